/** Runs a command on the configured store, or on a running proxy if `--url` names one. */

import { hostname, userInfo } from 'node:os';
import type { Actor, Admin } from '@erp-proxy/admin';
import type { Page, PageQuery } from '@erp-proxy/contract';
import { nameCommandActor } from '@erp-proxy/control/audit';
import { createLogger } from '@erp-proxy/observe/log';
import { lookForStore } from '@erp-proxy/stores';
import { parseProviders } from '../app/parse-providers.ts';
import { openServices, type Services } from '../app/services.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandOption,
  JSON_OPTION,
  printResult,
} from './command.ts';
import { openRemoteAdmin } from './remote-admin.ts';

/** Options of commands for keys, instances and the audit. */
export const ADMIN_OPTIONS = {
  url: {
    value: 'address',
    description:
      'Act on the running proxy at this address, as you have signed in there with login, or with a token (ERP_PROXY_ADMIN_TOKEN). Default: use the configured store.',
  },
  json: JSON_OPTION,
} satisfies Record<string, CommandOption>;

const PAGE_ITEMS = 500;

/** Creates a missing store only for a command that adds to it. */
export async function useAdmin(
  input: Pick<CommandInput, 'option' | 'settings' | 'env' | 'version' | 'complain'>,
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

/** What a command does if the store is missing: create one, treat it as empty, or refuse. */
type WithoutStore = 'create' | 'plan' | 'refuse';

/** The admin service for the store of the settings. Its actor is the user who runs the command. */
export async function openLocalAdmin(
  { settings, version, complain }: Pick<CommandInput, 'settings' | 'version' | 'complain'>,
  withoutStore: WithoutStore,
): Promise<{
  admin: Admin;
  audit: Services['audit'];
  close(): Promise<void>;
}> {
  if (settings.store.url === 'memory:') {
    throw new CommandError(
      'store.url is memory:, which ends with this command; name the store of the proxy, or the proxy with --url.',
    );
  }
  const found = await lookForStore(settings.store.url);
  const isMissing = !found.exists && withoutStore !== 'create';
  if (isMissing && withoutStore === 'refuse') throw explainMissing(found.label);
  complain(
    isMissing ? `There is no store ${found.label} yet: it counts as empty.\n` : `Store: ${found.label}\n`,
  );
  const services = await openServices({
    settings: isMissing ? { ...settings, store: { ...settings.store, url: 'memory:' } } : settings,
    version,
    clock: Date.now,
    logger: createLogger('warn', { add: (print) => complain(print()) }),
    operatorProvider: parseProviders(settings).provider,
    listUpstreams: () => [],
    isServing: false,
  });
  const actor: Actor = {
    ...nameCommandActor(findUserName(), hostname()),
    role: 'admin',
    instances: null,
    address: null,
    requestId: null,
  };
  return { admin: services.adminFor(actor), audit: services.audit, close: services.close };
}

function explainMissing(label: string): CommandError {
  const message = `There is no store ${label} yet. Where the proxy has another one, name it with --store.url, or run the command in the folder of the proxy; a start of the proxy and "erp-proxy keys create" make one.`;
  return new CommandError(message, 1);
}

/** Name of the user; a container can run as a user without one. */
function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
