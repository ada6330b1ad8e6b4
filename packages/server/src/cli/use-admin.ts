/** Runs a command on the configured store, or on a running proxy if `--url` names one. */
import type { Page, PageQuery } from '@erp-proxy/contract';
import type { Admin } from '../admin/admin.ts';
import { type Command, type CommandInput, type CommandOption, JSON_OPTION, printResult } from './command.ts';
import { openLocalAdmin, type WithoutStore } from './local-admin.ts';
import { openRemoteAdmin } from './remote-admin.ts';

/** Options of commands for keys, instances and the audit. */
export const ADMIN_OPTIONS = {
  url: {
    value: 'address',
    description:
      'Act on the running proxy at this address; needs admin.token. Default: use the configured store.',
  },
  json: JSON_OPTION,
} satisfies Record<string, CommandOption>;

const PAGE_ITEMS = 500;

/** Creates a missing store only for a command that adds to it. */
export async function useAdmin(
  input: Pick<CommandInput, 'option' | 'settings' | 'version' | 'complain'>,
  use: (admin: Admin) => Promise<number>,
  withoutStore: WithoutStore = 'refuse',
): Promise<number> {
  const isLocal = input.option('url') === undefined;
  const { admin, close } = await (isLocal ? openLocalAdmin(input, withoutStore) : openRemoteAdmin(input));
  try {
    return await use(admin);
  } finally {
    await close();
  }
}

interface AdminCommand<Answer> extends Omit<Command, 'options' | 'run'> {
  /** Beside those of every command for administrators. */
  options?: Command['options'];
  /** `name`: the first argument. */
  ask(admin: Admin, name: string, input: CommandInput): Promise<Answer>;
  /** The text that is printed unless JSON is asked for. */
  show(answer: Answer, name: string): string;
}

/** A command that asks the admin service once, and prints the answer. */
export function adminCommand<Answer>({ options, ask, show, ...command }: AdminCommand<Answer>): Command {
  return {
    ...command,
    options: { ...options, ...ADMIN_OPTIONS },
    run: (input) =>
      useAdmin(input, async (admin) => {
        const [name = ''] = input.arguments;
        const answer = await ask(admin, name, input);
        return printResult(input, answer, show(answer, name));
      }),
  };
}

/** Returns every item of a list, page after page. */
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

/** Copies the given options only; an omitted one has no member. */
export function pickGiven<Members extends Record<string, unknown>>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> };
}
