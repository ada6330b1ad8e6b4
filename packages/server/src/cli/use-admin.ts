/** Runs a command on the store of the settings, or on a running proxy where `--url` names one. */
import type { Page, PageQuery } from '@erp-proxy/contract';
import type { Admin } from '../admin/admin.ts';
import { type CommandInput, type CommandOption, JSON_OPTION, type Surroundings } from './command.ts';
import { openLocalAdmin } from './local-admin.ts';
import { openRemoteAdmin } from './remote-admin.ts';

/** Options of every command that works on keys, instances or the audit. */
export const ADMIN_OPTIONS = {
  url: {
    type: 'string',
    value: 'address',
    description: 'Do it on the proxy there, with admin.token. Default: on the store of the settings.',
  },
  json: JSON_OPTION,
} satisfies Record<string, CommandOption>;

const PAGE_ITEMS = 500;

export async function useAdmin(input: CommandInput, use: (admin: Admin) => Promise<number>): Promise<number> {
  const { admin, close } = await (input.option('url') === undefined ? openLocalAdmin : openRemoteAdmin)(
    input,
  );
  try {
    return await use(admin);
  } finally {
    await close();
  }
}

/** Every item of a list, page after page. */
export async function* listAll<Item, Query extends PageQuery>(
  list: (query: Query) => Promise<Page<Item>>,
  query: Query,
): AsyncGenerator<Item> {
  let cursor: string | null | undefined = query.cursor;
  do {
    const page = await list({ ...query, limit: PAGE_ITEMS, ...(cursor ? { cursor } : {}) });
    yield* page.items;
    cursor = page.next;
  } while (cursor !== null);
}

/** Prints items as one JSON array as they come: there may be more than fit in memory. */
export async function printJsonList(
  { print }: Pick<Surroundings, 'print'>,
  items: AsyncIterable<unknown>,
): Promise<void> {
  let separator = '[';
  for await (const item of items) {
    print(separator + JSON.stringify(item));
    separator = ',\n';
  }
  print(separator === '[' ? '[]\n' : ']\n');
}

/** What was given; members of options that were left out are not there. */
export function pickGiven<Members extends Record<string, unknown>>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> };
}
