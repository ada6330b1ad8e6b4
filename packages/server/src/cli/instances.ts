/** `instances …`: manages stored Odoo servers. No command shows their keys. */

import type { Admin } from '@erp-proxy/admin';
import { AdminError, toAdminError } from '@erp-proxy/admin/errors';
import {
  INSTANCE_CHECK_MEMBERS,
  INSTANCE_OPTIONS,
  type InstanceInput,
  type InstanceView,
  nameOption,
  pick,
} from '@erp-proxy/contract';
import { INSTANCE_INPUT } from '@erp-proxy/contract/admin';
import { readInput } from '@erp-proxy/control/instances';
import { checkOrigin, parseEgressPolicy } from '@erp-proxy/egress/policy';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandOption,
  printResult,
  showMembers,
} from './command.ts';
import { explainProblem } from './explain-problem.ts';
import { importCommand } from './import-instances.ts';
import { listMemberOptions, readMembers } from './member-options.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, pickGiven, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<InstanceView>[] = [
  { heading: 'NAME', show: ({ name }) => name },
  { heading: 'URL', show: ({ url }) => url },
  { heading: 'DATABASE', show: ({ db }) => db },
  { heading: 'USER', show: ({ user_id }) => user_id },
  { heading: 'PROTOCOL', show: ({ protocol }) => protocol },
  { heading: 'KEY', show: ({ key }) => key.state },
  { heading: 'KEY EXPIRES', show: ({ key }) => key.expires_at },
];

export const LOGIN_OPTION: CommandOption = {
  value: 'login',
  description: 'Login of the user in Odoo, in place of --user-id, which is found by it.',
};

export const instancesCommands: readonly Command[] = [
  {
    name: 'instances add',
    arguments: ['<name>'],
    summary:
      'Check an Odoo server with a user, and store it. Calls refer to it as erp_instance: {"name": …}.',
    options: {
      ...listMemberOptions(INSTANCE_INPUT, INSTANCE_OPTIONS),
      login: LOGIN_OPTION,
      'no-check': { description: 'Store it without signing in at the server first.' },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const [name = ''] = input.arguments;
      const login = input.option('login');
      const { url, db, user_id, api_key, ...members } = await readMembers(
        input,
        INSTANCE_INPUT,
        INSTANCE_OPTIONS,
      );
      if (url === undefined || db === undefined) throw new CommandError('Give --erp-url and --db.');
      if (members.identity === 'person') {
        if ((user_id ?? api_key ?? login) != null) throw new CommandError(NO_USER);
        return useAdmin(
          input,
          (admin) => addForPersons(input, admin, { name, url, db, ...members }),
          'create',
        );
      }
      if (api_key == null || (user_id ?? login) == null) {
        throw new CommandError('Give --erp-url, --db, --user-id or --login, and --api-key-file.');
      }
      if (user_id != null && login !== undefined) throw new CommandError('Give --user-id or --login.');
      const draft = { name, url, db, api_key, ...members };
      return useAdmin(
        input,
        async (admin) => {
          const given = { draft, userId: user_id ?? undefined, login };
          const signedIn = input.isSet('no-check') && login === undefined ? null : await signIn(admin, given);
          const instance: InstanceInput = { ...draft, user_id: user_id ?? signedIn?.userId ?? 0 };
          const found = signedIn === null ? '' : `: ${signedIn.found}`;
          const view = await admin.createInstance(instance).catch(explainByOptions);
          printResult(input, view, `Instance ${name} is stored${found}.\n`);
          warnOfEgress(input, instance);
          return 0;
        },
        'create',
      );
    },
  },
  importCommand,
  {
    name: 'instances list',
    summary: 'List the stored instances, without their keys.',
    options: {
      search: { value: 'text', description: 'Only instances whose name or address contains this text.' },
      ...ADMIN_OPTIONS,
    },
    run: (input) =>
      useAdmin(input, async (admin) => {
        const instances = listAll(admin.listInstances, pickGiven({ search: input.option('search') }));
        const emptyText =
          input.option('search') === undefined
            ? 'There are no instances; add one with erp-proxy instances add.'
            : 'No instance matches.';
        return printList(input, instances, COLUMNS, emptyText);
      }),
  },
  adminCommand({
    name: 'instances show',
    arguments: ['<name>'],
    summary: 'Show a stored instance, without its key.',
    ask: (admin, name) => admin.getInstance(name),
    show: ({ key, ...members }) => showMembers({ ...members, ...prefixKeyMembers(key) }, 14),
  }),
  {
    name: 'instances update',
    arguments: ['<name>'],
    summary:
      'Change a stored instance. Omitted members stay. A change that could lead to another server needs the key.',
    options: {
      ...listMemberOptions(INSTANCE_INPUT, INSTANCE_OPTIONS, { isChange: true }),
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const [name = ''] = input.arguments;
      const changes = await readMembers(input, INSTANCE_INPUT, INSTANCE_OPTIONS);
      if (Object.keys(changes).length === 0) {
        throw new CommandError('Say what to change. See erp-proxy instances update --help.');
      }
      return useAdmin(input, async (admin) => {
        const view = await admin.updateInstance(name, changes).catch(explainByOptions);
        return printResult(input, view, `Instance ${name} is changed.\n`);
      });
    },
  },
  adminCommand({
    name: 'instances remove',
    arguments: ['<name>'],
    summary: 'Remove a stored instance and its key. Calls to it are refused from then on.',
    ask: (admin, name) => admin.removeInstance(name).then(() => ({ name, removed: true })),
    show: ({ name }) => `Instance ${name} is removed. Its key still works at Odoo: remove it there.\n`,
  }),
  adminCommand({
    name: 'instances rotate-key',
    arguments: ['<name>'],
    summary: 'Create a new key in Odoo (19 and later) and replace the stored one.',
    ask: (admin, name, input) =>
      admin.rotateInstanceKey(name).catch((error) => explainNotRotated(input, error)),
    show: (_answer, name) =>
      `Instance ${name} has a new key; a running proxy removes the old one at Odoo in some minutes.\n`,
  }),
];

/** The checks that fail by the server's answer. Other checks fail before the server is asked, and may pass later. */
const REFUSING: ReadonlySet<string> = new Set(['database', 'user', 'key']);

const NO_USER =
  'With --identity person, each person connects a user and a key: leave out --user-id, --login and --api-key-file.';

/** The server is not asked: without a user, it tells little. */
async function addForPersons(input: CommandInput, admin: Admin, instance: InstanceInput): Promise<number> {
  const view = await admin.createInstance(instance).catch(explainByOptions);
  printResult(
    input,
    view,
    `Instance ${view.name} is stored; each person connects at /connect/${view.name}.\n`,
  );
  warnOfEgress(input, instance);
  return 0;
}

interface Given {
  draft: Omit<InstanceInput, 'user_id' | 'api_key'> & { api_key: string };
  userId: number | undefined;
  login: string | undefined;
}

interface SignedIn {
  userId: number | undefined;
  /** Name of the found user, or why the server could not be asked. */
  found: string;
}

/** Throws a {@link CommandError} if the server refuses the user, or if a login cannot be looked up. */
async function signIn(admin: Admin, { draft, userId, login }: Given): Promise<SignedIn> {
  checkMembers({ ...draft, user_id: userId ?? 1 });
  const { checks, user } = await admin
    .checkServer({ ...pick(draft, INSTANCE_CHECK_MEMBERS), ...pickGiven({ user_id: userId, login }) })
    .catch(explainByOptions);
  const failed = checks.find(({ state }) => state === 'failed');
  const problem = failed && `${failed.name}: ${failed.text}`;
  if (failed !== undefined && (login !== undefined || REFUSING.has(failed.name))) {
    const otherWay = login === undefined ? '--no-check stores it all the same' : 'or give --user-id';
    throw new CommandError(`Nothing is stored: ${problem}. Correct it; ${otherWay}.`, 1);
  }
  if (login !== undefined && user === null)
    throw new CommandError('Nothing is stored: Odoo does not tell the id of the user: give --user-id.', 1);
  const shown = checks.find(({ name, state }) => name === 'user' && state === 'ok');
  return { userId: user?.id, found: problem ? `not checked, ${problem}` : `user ${shown?.text}` };
}

/** Reports all errors of the members at once, before the server is asked. */
function checkMembers(instance: InstanceInput): void {
  try {
    readInput(instance);
  } catch (error) {
    explainByOptions(toAdminError(error));
  }
}

/**
 * Warns if the egress settings refuse the server. Not with `--url`: the settings of a running proxy are not known here.
 */
function warnOfEgress(
  { option, settings, complain }: CommandInput,
  { url, allow_private }: InstanceInput,
): void {
  if (option('url') !== undefined) return;
  const { policy } = parseEgressPolicy(settings.egress.allow);
  const checked = checkOrigin(policy, new URL(url).origin, allow_private);
  if (!('rule' in checked)) return;
  complain(
    `Warning: with these settings calls to it are refused: ${checked.detail}${allow_private ? '' : ', or allow it for this instance (--allow-private)'}.\n`,
  );
}

/**
 * Adds to an error of rotation that the command called Odoo itself, perhaps with other egress settings than the proxy.
 */
function explainNotRotated(input: CommandInput, error: unknown): never {
  const isOwnWay = input.option('url') === undefined;
  if (!isOwnWay || !(error instanceof AdminError) || error.problem.status !== 409) throw error;
  throw new CommandError(
    `${explainProblem(error.problem)}\nThis command went to Odoo with the egress settings of this shell: have the running proxy do it (--url), or give the command the same settings.`,
    1,
  );
}

function prefixKeyMembers(key: InstanceView['key']): Record<string, unknown> {
  return Object.fromEntries(Object.entries(key).map(([member, value]) => [`key.${member}`, value]));
}

const NAMED: ReadonlySet<string> = new Set([...Object.keys(INSTANCE_INPUT), 'login']);

/**
 * For use in `catch`: rethrows an error about an instance's members with the names of the command's options, in place
 * of the members of the API.
 */
function explainByOptions(error: unknown): never {
  if (!(error instanceof AdminError) || error.problem.faults === undefined) throw error;
  const invalid = error.problem.faults.map(({ path, message }) => ({
    path: show(path),
    message: message
      .replace(/`(\w+)`/g, (_quoted, member: string) => `\`${show(member)}\``)
      .replace(/\bnull$/, 'none'),
  }));
  throw new AdminError({ ...error.problem, faults: invalid }, { cause: error });
}

function show(member: string): string {
  if (member === 'name') return '<name>';
  return NAMED.has(member) ? `--${nameOption(member, INSTANCE_OPTIONS)}` : member;
}
