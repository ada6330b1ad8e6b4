/** `keys …`: manages client keys. A running proxy on the same store applies a change within a second. */
import type {
  ExplainInput,
  FieldRule,
  KeyChanges,
  KeyState,
  KeyView,
  NewKeyView,
  StarMeaning,
} from '@erp-proxy/contract';
import { KEY_INPUT } from '@erp-proxy/contract/admin';
import { DuplicateMemberError, readValue } from '@erp-proxy/json';
import { listModelsWithoutFields } from '@erp-proxy/policy/parse';
import { explainUnreadable } from './apply/explain-unreadable.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandOption,
  printJson,
  printResult,
  showMembers,
} from './command.ts';
import { listMemberOptions, type OptionForms, readMembers } from './member-options.ts';
import { type Column, printList } from './print-list.ts';
import { PUBLISHABLE_OPTIONS, readPublishablePolicy } from './publishable-policy.ts';
import { readPolicyFile } from './read-policy.ts';
import { readDurationMs, readExpiry } from './read-time.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, pickGiven, useAdmin } from './use-admin.ts';
import { warnOfUnnamedMethods } from './warn-of-unnamed-methods.ts';

const FORMS: OptionForms = {
  policy: { read: async (input, _name, file) => readPolicyFile(file, await input.readInput(file)) },
  expires_at: { name: 'expires-in', read: async (_input, name, text) => readExpiry(name, text) },
};
const POLICY_OPTION: CommandOption = {
  value: 'file',
  description:
    'File with the policy of the key, in YAML or JSON; - for standard input. See docs/policies.md.',
};
const NAME_OPTION: CommandOption = {
  value: 'text',
  description: 'Name of the key, as keys list shows it.',
};
const OPTIONS: Command['options'] = {
  ...listMemberOptions(KEY_INPUT, FORMS),
  name: NAME_OPTION,
  policy: POLICY_OPTION,
};
const STATES: readonly KeyState[] = ['active', 'expired', 'revoked'];
const COLUMNS: readonly Column<KeyView>[] = [
  { heading: 'ID', show: ({ id }) => id },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'POLICY', show: ({ policy }) => describePolicy(policy) },
  { heading: 'CREATED', show: ({ created_at }) => created_at },
  { heading: 'BY', show: ({ created_by }) => created_by?.name ?? null },
  { heading: 'LAST USED', show: ({ last_used_at }) => last_used_at },
  { heading: 'EXPIRES', show: ({ expires_at }) => expires_at },
  { heading: 'NAME', show: ({ name }) => name },
];

export const keysCommands: readonly Command[] = [
  {
    name: 'keys create',
    summary: 'Create a client key and print it once. Only its hash is stored.',
    options: {
      ...OPTIONS,
      name: {
        ...NAME_OPTION,
        description: `${NAME_OPTION.description} Default: asked for on a terminal, otherwise unnamed.`,
      },
      'expires-in': {
        value: 'time',
        description: 'Time until it expires, such as 12h or 90d. Default: never.',
      },
      ...PUBLISHABLE_OPTIONS,
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const changes = await readMembers(input, KEY_INPUT, FORMS);
      const name = changes.name ?? (await askForName(input));
      return useAdmin(
        input,
        async (admin) => {
          const policy = await readPublishablePolicy(input, changes.policy ?? undefined, admin);
          const created = await admin.createKey({
            ...changes,
            name,
            ...(policy === null ? {} : { policy }),
          });
          return printNewKey(input, created, `Key ${created.id} ("${created.name}") is shown this once.`);
        },
        'create',
      );
    },
  },
  {
    name: 'keys list',
    summary: 'List the client keys, without their secrets.',
    options: {
      state: { choices: STATES, description: 'Only keys in this state.' },
      search: { value: 'text', description: 'Only keys whose id or name contains this text.' },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const state = input.option('state') as KeyState | undefined;
      const query = pickGiven({ state, search: input.option('search') });
      return useAdmin(input, async (admin) => {
        const isFiltered = Object.keys(query).length > 0;
        const emptyText = isFiltered
          ? 'No key matches.'
          : 'There are no keys; make one with erp-proxy keys create.';
        await printList(input, listAll(admin.listKeys, query), COLUMNS, emptyText);
        if (!input.isSet('json')) await warnOfUnnamedMethods(input, admin, null);
        return 0;
      });
    },
  },
  adminCommand({
    name: 'keys show',
    arguments: ['<id>'],
    summary: 'Show a client key and its policy, without its secret.',
    ask: (admin, id) => admin.getKey(readId(id)),
    show: describeMembers,
  }),
  {
    name: 'keys update',
    arguments: ['<id>'],
    summary: 'Change a client key. Omitted members stay as they are.',
    options: {
      policy: POLICY_OPTION,
      'no-policy': { description: 'Remove the policy: the key may do anything that egress allows.' },
      ...OPTIONS,
      'expires-in': { value: 'time', description: 'Time until it expires, from now: 12h, 90d, or never.' },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const id = readId(input.arguments[0]);
      if (input.isSet('no-policy') && input.option('policy') !== undefined) {
        throw new CommandError('--policy and --no-policy exclude each other.');
      }
      const changes: KeyChanges = await readMembers(input, KEY_INPUT, FORMS);
      if (input.isSet('no-policy')) changes.policy = null;
      if (Object.keys(changes).length === 0) {
        throw new CommandError('Say what to change. See erp-proxy keys update --help.');
      }
      return useAdmin(input, async (admin) => {
        const key = await admin.updateKey(id, changes);
        return printResult(input, key, `Key ${id} is changed; a running proxy follows within a second.\n`);
      });
    },
  },
  adminCommand({
    name: 'keys revoke',
    arguments: ['<id>'],
    summary: 'Revoke a client key permanently. It stops working within a second.',
    ask: (admin, id) => admin.revokeKey(readId(id)),
    show: ({ id }) => `Key ${id} is revoked.\n`,
  }),
  {
    name: 'keys rotate',
    arguments: ['<id>'],
    summary: 'Create a successor to a key, with the same name, policy and expiry, and print it once.',
    options: {
      overlap: {
        value: 'time',
        description: 'Time for which the old key still works: 0m, 12h, 7d. Default: 24h.',
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
        return printNewKey(input, created, note);
      });
    },
  },
  {
    name: 'keys explain',
    summary:
      'Show whether a key may make a call, and which rule decides. Exits with 0 if it may, otherwise with 1.',
    options: {
      key: { value: 'id', description: 'Id of the key, as shown by keys list.' },
      call: { value: 'file', description: 'File with the body of the call; - for standard input.' },
      address: { value: 'ip', description: 'Address of the caller. Default: not checked.' },
      origin: { value: 'origin', description: 'Origin of the calling web page. Default: none.' },
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
        const explanation = await admin.explainCall(id, explained);
        if (input.isSet('json')) {
          printJson(input, explanation);
        } else {
          const { allowed, rule, approval, message, star, sets } = explanation;
          input.print(`${allowed ? 'allowed' : 'denied'} by ${rule ?? 'no rule'}: ${message}\n`);
          // Undefined in the answer of an older proxy.
          if (approval != null) input.print(`  needs an approval by ${approval}\n`);
          const { fields, ...values } = sets;
          if (fields !== undefined) input.print(`  names the fields of the model: ${printRule(fields)}\n`);
          for (const [member, value] of Object.entries(values)) {
            input.print(`  sets ${member} to ${JSON.stringify(value)}\n`);
          }
          if (star !== undefined) printStar(input, star);
        }
        return explanation.allowed ? 0 : 1;
      });
    },
  },
];

function printStar({ print }: CommandInput, { methods, left_out: leftOut }: StarMeaning): void {
  print(`  "*" stands for these methods, as far as the model has them: ${methods.join(', ')}\n`);
  print('  it does not stand for others, which the policy must name:\n');
  for (const { method, reason } of leftOut) print(`    ${method} ${reason}\n`);
  print('    any other method is not known to keep to records of its model\n');
}

function printRule(rule: FieldRule): string {
  return 'allow' in rule ? `only ${rule.allow.join(', ')}` : `all but ${rule.deny.join(', ')}`;
}

/** A person is asked, because nobody knows later whose calls a key without a name stands for. */
async function askForName({ ask }: CommandInput): Promise<string> {
  if (ask === null) return 'unnamed';
  const name = (await ask('Name of the key, such as the program that will use it: ')).trim();
  if (name !== '') return name;
  throw new CommandError('Give the key a name: --name <the program that will use it>.');
}

/** Refuses a whole key in place of its id: messages and the audit show ids, and must not show keys. */
function readId(id = ''): string {
  if (!id.startsWith('ep_')) return id;
  throw new CommandError('This is the text of a key; give its id, the part between the two underscores.');
}

function parseCall(file: string, bytes: Buffer): unknown {
  try {
    return readValue(bytes);
  } catch (error) {
    throw new CommandError(
      error instanceof DuplicateMemberError ? `${file}: ${error.message}` : `${file}: this is not JSON.`,
    );
  }
}

function missing(option: string): never {
  throw new CommandError(`Give ${option}. See erp-proxy keys explain --help.`);
}

/** Prints only the key on standard output, so that it can be redirected into a file. */
function printNewKey(input: CommandInput, { id, key, ...rest }: NewKeyView, note: string): 0 {
  printResult(input, { id, key, ...rest }, `${key}\n`);
  if (!input.isSet('json')) input.complain(`${note} Send it in the header x-proxy-api.\n`);
  return 0;
}

function describeMembers({ policy, ...members }: KeyView): string {
  const shown = policy !== null && 'unreadable' in policy ? explainUnreadable(policy) : null;
  return showMembers({ ...members, policy: policy && (shown ?? JSON.stringify(policy, null, 2)) }, 12);
}

function describePolicy(policy: KeyView['policy']): string {
  if (policy === null) return 'none';
  if ('unreadable' in policy) return 'unreadable';
  if (policy.publishable !== true) return 'yes';
  return listModelsWithoutFields(policy).length > 0 ? 'publishable, lacks fields' : 'publishable';
}
