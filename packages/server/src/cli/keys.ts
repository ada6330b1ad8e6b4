/** `keys …`: client keys. A running proxy on the same store sees a change within a second. */
import type { ExplainInput, KeyChanges, KeyState, KeyView, NewKeyView } from '@erp-proxy/contract';
import { type Command, CommandError, type CommandInput, type CommandOption, printJson } from './command.ts';
import { readPolicyFile } from './read-policy.ts';
import { readDurationMs, readExpiry } from './read-time.ts';
import { ADMIN_OPTIONS, listAll, pickGiven, printJsonList, useAdmin } from './use-admin.ts';

const POLICY_OPTION: CommandOption = {
  type: 'string',
  value: 'file',
  description: 'What it may do, in YAML or JSON; - for standard input. See docs/policies.md.',
};
const NAME_OPTION: CommandOption = {
  type: 'string',
  value: 'text',
  description: 'Who will use it; shown by keys list.',
};
const STATES: readonly KeyState[] = ['active', 'expired', 'revoked'];

export const keysCreateCommand: Command = {
  name: 'keys create',
  arguments: [],
  summary: 'Make a client key and print it. It is shown this once and kept as a hash only.',
  options: {
    name: NAME_OPTION,
    policy: POLICY_OPTION,
    'expires-in': {
      type: 'string',
      value: 'time',
      description: 'When it stops working: 12h, 90d. Default: never.',
    },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const changes = await readChanges(input);
    return useAdmin(input, async (admin) => {
      const created = await admin.createKey({ name: 'unnamed', ...changes });
      printNewKey(input, created, `Key ${created.id} ("${created.name}") is shown this once.`);
      return 0;
    });
  },
};

export const keysListCommand: Command = {
  name: 'keys list',
  arguments: [],
  summary: 'List the client keys, without their secrets.',
  options: {
    state: { type: 'string', value: STATES.join('|'), description: 'Only keys in this state.' },
    search: { type: 'string', value: 'text', description: 'Only keys with this in their id or name.' },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const wanted = input.option('state');
    const state = STATES.find((known) => known === wanted);
    if (wanted !== undefined && state === undefined) {
      throw new CommandError(`--state is one of ${STATES.join(', ')}.`);
    }
    const query = pickGiven({ state, search: input.option('search') });
    return useAdmin(input, async (admin) => {
      const keys = listAll(admin.listKeys, query);
      if (input.isSet('json')) {
        await printJsonList(input, keys);
        return 0;
      }
      let count = 0;
      for await (const key of keys) {
        input.print(describeKey(key));
        count++;
      }
      if (count > 0) return 0;
      const isFiltered = Object.keys(query).length > 0;
      input.print(
        isFiltered ? 'No key is like that.\n' : 'There are no keys; make one with erp-proxy keys create.\n',
      );
      return 0;
    });
  },
};

export const keysShowCommand: Command = {
  name: 'keys show',
  arguments: ['<id>'],
  summary: 'Show a client key and its policy, without its secret.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const key = await admin.getKey(readId(input.arguments[0]));
      if (input.isSet('json')) printJson(input, key);
      else printMembers(input, key);
      return 0;
    }),
};

export const keysUpdateCommand: Command = {
  name: 'keys update',
  arguments: ['<id>'],
  summary: 'Change a client key; what is left out stays as it is.',
  options: {
    policy: POLICY_OPTION,
    'no-policy': { type: 'boolean', description: 'It may do anything that egress allows.' },
    name: NAME_OPTION,
    'expires-in': {
      type: 'string',
      value: 'time',
      description: 'When it stops working, from now: 12h, 90d, or never.',
    },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const id = readId(input.arguments[0]);
    if (input.isSet('no-policy') && input.option('policy') !== undefined) {
      throw new CommandError('--policy and --no-policy exclude each other.');
    }
    const changes = await readChanges(input);
    if (input.isSet('no-policy')) changes.policy = null;
    if (Object.keys(changes).length === 0) {
      throw new CommandError('Say what to change: --policy, --no-policy, --name or --expires-in.');
    }
    return useAdmin(input, async (admin) => {
      const key = await admin.updateKey(id, changes);
      if (input.isSet('json')) printJson(input, key);
      else input.print(`Key ${id} is changed; a running proxy follows within a second.\n`);
      return 0;
    });
  },
};

export const keysRevokeCommand: Command = {
  name: 'keys revoke',
  arguments: ['<id>'],
  summary: 'Revoke a client key: it stops working within a second, for good.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const key = await admin.revokeKey(readId(input.arguments[0]));
      if (input.isSet('json')) printJson(input, key);
      else input.print(`Key ${key.id} is revoked.\n`);
      return 0;
    }),
};

export const keysRotateCommand: Command = {
  name: 'keys rotate',
  arguments: ['<id>'],
  summary:
    'Make a key that takes over from another, with its name, policy and expiry, and print it this once.',
  options: {
    overlap: {
      type: 'string',
      value: 'time',
      description: 'How long the old key goes on working: 0m, 12h, 7d. Default: 24h.',
    },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const id = readId(input.arguments[0]);
    const overlap = input.option('overlap') ?? '24h';
    const overlapMs = readDurationMs('overlap', overlap);
    return useAdmin(input, async (admin) => {
      const created = await admin.rotateKey(id, { overlap_seconds: overlapMs / 1000 });
      const note = `Key ${created.id} ("${created.name}") is shown this once; ${id} works for ${overlap} more.`;
      printNewKey(input, created, note);
      return 0;
    });
  },
};

export const keysExplainCommand: Command = {
  name: 'keys explain',
  arguments: [],
  summary:
    'Show whether a key may make a call, and which rule says so. Ends with 0 where it may, else with 1.',
  options: {
    key: { type: 'string', value: 'id', description: 'Id of the key, as keys list shows it.' },
    call: { type: 'string', value: 'file', description: 'The body of the call; - for standard input.' },
    address: { type: 'string', value: 'ip', description: 'Where it comes from. Default: not looked at.' },
    origin: { type: 'string', value: 'origin', description: 'The web page it comes from. Default: none.' },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const id = readId(input.option('key') ?? missing('--key <id>'));
    const file = input.option('call') ?? missing('--call <file>');
    const explained: ExplainInput = {
      call: parseCall(file, await input.readInput(file)),
      ...pickGiven({ address: input.option('address'), origin: input.option('origin') }),
    };
    return useAdmin(input, async (admin) => {
      const explanation = await admin.explain(id, explained);
      if (input.isSet('json')) {
        printJson(input, explanation);
      } else {
        const { allowed, rule, message, sets } = explanation;
        input.print(`${allowed ? 'allowed' : 'denied'} by ${rule ?? 'no rule'}: ${message}\n`);
        for (const [member, value] of Object.entries(sets)) {
          input.print(`  sets ${member} to ${JSON.stringify(value)}\n`);
        }
      }
      return explanation.allowed ? 0 : 1;
    });
  },
};

async function readChanges({ option, readInput }: CommandInput): Promise<KeyChanges> {
  const policyFile = option('policy');
  const expiresIn = option('expires-in');
  return pickGiven({
    name: option('name'),
    policy: policyFile === undefined ? undefined : readPolicyFile(policyFile, await readInput(policyFile)),
    expires_at: expiresIn === undefined ? undefined : readExpiry('expires-in', expiresIn),
  });
}

/** The text of a key in place of its id is refused unread: messages and the audit show ids. */
function readId(id = ''): string {
  if (!id.startsWith('ep_')) return id;
  throw new CommandError('This is the text of a key; give its id, the part between the two underscores.');
}

function parseCall(file: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new CommandError(`${file}: this is not JSON.`);
  }
}

function missing(option: string): never {
  throw new CommandError(`Give ${option}. See erp-proxy keys explain --help.`);
}

/** The key alone goes to standard output, so that it can be put into a file. */
function printNewKey(input: CommandInput, created: NewKeyView, note: string): void {
  if (input.isSet('json')) {
    const { id, key, ...rest } = created;
    printJson(input, { id, key, ...rest });
  } else {
    input.print(`${created.key}\n`);
    input.complain(`${note} Send it in the header x-proxy-api.\n`);
  }
}

function describeKey({ id, state, policy, created_at, last_used_at, name }: KeyView): string {
  const used = last_used_at === null ? 'never used' : `used ${last_used_at}`;
  const scope = policy === null ? 'no policy' : 'policy';
  return `${id}  ${state.padEnd(7)}  ${scope.padEnd(9)}  made ${created_at}  ${used.padEnd(29)}  ${name}\n`;
}

function printMembers({ print }: CommandInput, { policy, ...members }: KeyView): void {
  for (const [member, value] of Object.entries(members)) print(`${member.padEnd(12)}  ${value ?? '-'}\n`);
  print(`policy        ${policy === null ? '-' : JSON.stringify(policy, null, 2)}\n`);
}
