/** `keys …`: client keys on the store of the settings. A running proxy on the same store sees a change within a second. */
import { createKeys, type Keys } from '../keys/keys.ts';
import { openStore } from '../stores/open.ts';
import { type Command, CommandError, type CommandInput, JSON_OPTION, printJson } from './command.ts';

export const keysCreateCommand: Command = {
  name: 'keys create',
  arguments: [],
  summary: 'Make a client key and print it. It is shown this once and kept as a hash only.',
  options: {
    name: { type: 'string', value: 'text', description: 'Who will use it; shown by keys list.' },
    'expires-in': {
      type: 'string',
      value: 'time',
      description: 'When it stops working: 12h, 90d. Default: never.',
    },
    json: JSON_OPTION,
  },
  run: (input) =>
    useKeys(input, async (keys) => {
      const name = input.option('name') ?? 'unnamed';
      const expiresAt = readExpiry(input.option('expires-in'));
      const created = await keys.create({ name, expiresAt }).catch((error: unknown) => {
        throw error instanceof RangeError ? new CommandError(error.message) : error;
      });
      if (input.isSet('json')) {
        printJson(input, {
          ...created,
          createdAt: formatTime(created.createdAt),
          expiresAt: formatTime(expiresAt),
        });
      } else {
        input.print(`${created.key}\n`);
        input.complain(
          `Key ${created.id} ("${name}") is shown this once. Send it in the header x-proxy-api.\n`,
        );
      }
      return 0;
    }),
};

export const keysListCommand: Command = {
  name: 'keys list',
  arguments: [],
  summary: 'List the client keys, without their secrets.',
  options: { json: JSON_OPTION },
  run: (input) =>
    useKeys(input, async (keys) => {
      const records = (await keys.list()).map((record) => ({
        id: record.id,
        name: record.name,
        state: describeState(record),
        createdAt: formatTime(record.createdAt),
        expiresAt: formatTime(record.expiresAt),
        lastUsedAt: formatTime(record.lastUsedAt),
        revokedAt: formatTime(record.revokedAt),
      }));
      if (input.isSet('json')) {
        printJson(input, records);
      } else if (records.length === 0) {
        input.print('There are no keys; make one with erp-proxy keys create.\n');
      } else {
        for (const { id, state, createdAt, lastUsedAt, name } of records) {
          const used = lastUsedAt === null ? 'never used' : `used ${lastUsedAt}`;
          input.print(`${id}  ${state.padEnd(7)}  made ${createdAt}  ${used.padEnd(29)}  ${name}\n`);
        }
      }
      return 0;
    }),
};

export const keysRevokeCommand: Command = {
  name: 'keys revoke',
  arguments: ['<id>'],
  summary: 'Revoke a client key: it stops working within a second, for good.',
  options: { json: JSON_OPTION },
  run: (input) =>
    useKeys(input, async (keys) => {
      const id = input.arguments[0] as string;
      const isKnown = await keys.revoke(id);
      if (input.isSet('json')) printJson(input, { id, revoked: isKnown });
      else if (isKnown) input.print(`Key ${id} is revoked.\n`);
      if (!isKnown) input.complain(`There is no key with the id "${id}"; see erp-proxy keys list.\n`);
      return isKnown ? 0 : 1;
    }),
};

async function useKeys(input: CommandInput, use: (keys: Keys) => Promise<number>): Promise<number> {
  const { settings } = input;
  if (settings.store.url === 'memory:') {
    throw new CommandError(
      'store.url is memory:, which ends with this command; name the store of the proxy.',
    );
  }
  const store = await openStore(settings.store.url);
  try {
    const keys = await createKeys({
      store,
      clock: Date.now,
      hashSecret: settings.keys.hashSecret ?? undefined,
    });
    return await use(keys);
  } finally {
    await store.close();
  }
}

const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readExpiry(text: string | undefined): number | null {
  if (text === undefined) return null;
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new CommandError(
      `--expires-in "${text}" is not a time: give minutes, hours or days, as in 30m, 12h or 90d.`,
    );
  }
  return Date.now() + Number(count) * (UNITS_MS[unit] as number);
}

function describeState({
  revokedAt,
  expiresAt,
}: {
  revokedAt: number | null;
  expiresAt: number | null;
}): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= Date.now() ? 'expired' : 'active';
}

function formatTime<Time extends number | null>(time: Time): Time extends null ? null : string {
  return (time === null ? null : new Date(time).toISOString()) as Time extends null ? null : string;
}
