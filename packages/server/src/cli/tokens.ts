/** `tokens …`: personal tokens of operators, for the admin API and for commands with `--url`. */
import { ROLES, type Role, type TokenView } from '@erp-proxy/contract';
import { TOKEN_PREFIX } from '@erp-proxy/control/keys/format';
import { type Command, CommandError, printResult } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { readExpiry } from './read-time.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<TokenView>[] = [
  { heading: 'ID', show: ({ id }) => id },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'ROLE', show: ({ role }) => role },
  { heading: 'INSTANCES', show: ({ instances }) => instances?.join(' ') ?? null },
  { heading: 'CREATED', show: ({ created_at }) => created_at },
  { heading: 'BY', show: ({ created_by }) => created_by?.name ?? null },
  { heading: 'LAST USED', show: ({ last_used_at }) => last_used_at },
  { heading: 'EXPIRES', show: ({ expires_at }) => expires_at },
  { heading: 'NAME', show: ({ name }) => name },
];

export const tokensCommands: readonly Command[] = [
  {
    name: 'tokens create',
    summary: 'Create a personal token for the admin API and print it once. Only its hash is stored.',
    options: {
      name: { value: 'text', description: 'Who or what will use it; the audit shows this name.' },
      role: { choices: ROLES, description: 'What it may do. See docs/operators.md.' },
      instances: {
        value: 'patterns',
        description:
          'Names of the instances that it is limited to, separated by commas; * stands for any text. Default: all that you may use.',
      },
      'expires-in': {
        value: 'time',
        description: 'Time until it expires, such as 12h or 90d. Default: never.',
      },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const { option } = input;
      const name = option('name');
      const role = option('role') as Role | undefined;
      if (name === undefined || role === undefined) {
        throw new CommandError('Give --name and --role. See erp-proxy tokens create --help.');
      }
      const instances = option('instances')?.split(',');
      const expiresIn = option('expires-in');
      const expires = expiresIn === undefined ? {} : { expires_at: readExpiry('expires-in', expiresIn) };
      return useAdmin(
        input,
        async (admin) => {
          const created = await admin.createToken({
            name,
            role,
            ...(instances && { instances }),
            ...expires,
          });
          printResult(input, created, `${created.token}\n`);
          if (!input.isSet('json')) {
            input.complain(
              `Token ${created.id} ("${created.name}", ${created.role}) is shown this once. Give it to commands in ERP_PROXY_ADMIN_TOKEN.\n`,
            );
          }
          return 0;
        },
        'create',
      );
    },
  },
  {
    name: 'tokens list',
    summary: 'List the personal tokens, without their secrets.',
    options: ADMIN_OPTIONS,
    run: (input) =>
      useAdmin(input, (admin) =>
        printList(
          input,
          listAll(admin.listTokens, {}),
          COLUMNS,
          'There are no tokens; make one with erp-proxy tokens create.',
        ),
      ),
  },
  adminCommand({
    name: 'tokens revoke',
    arguments: ['<id>'],
    summary: 'Revoke a personal token permanently. It stops working at once.',
    ask: (admin, id) => admin.revokeToken(readId(id)),
    show: ({ id }) => `Token ${id} is revoked.\n`,
  }),
];

/** Refuses a whole token in place of its id: messages and the audit show ids, and must not show tokens. */
function readId(id: string): string {
  if (!id.startsWith(TOKEN_PREFIX)) return id;
  throw new CommandError('This is the text of a token; give its id, the part between the two underscores.');
}
