/**
 * The shards of subscriptions, and the processes that hold them. The column `shard` of a subscription follows from its
 * id. A shard has a row in the table of leases, whose owner is the process that holds it, and so has each process.
 */
import type { SubscriptionStore } from './ports/subscriptions.ts';
import { createParameters, placeRows } from './sql.ts';
import type { Dialect, StoreDatabase } from './statements.ts';

/** Number of shards. The column `shard` has the values from 0 to below it. */
const SHARDS = 16;
const SHARD = 'subscription-shard-';
const PROCESS = 'subscription-process-';
/** An arbitrary number that other programs on the database are unlikely to lock. */
const LOCK = 3_772_610_884_954;

/** Condition: the owner in the parameter holds the shard of the subscription now. */
export function holdsShard({ now }: Dialect, parameter: string): string {
  return `('${SHARD}' || shard) IN (SELECT leases.name FROM leases WHERE owner = ${parameter} AND ends_at > ${now})`;
}

export function createSubscriptionShards(
  quick: StoreDatabase,
): Pick<SubscriptionStore, 'holdShards' | 'releaseShards'> {
  const { isIn, lock, now, nowPlus } = quick.dialect;
  const isOurs = `(name LIKE '${SHARD}%' OR name LIKE '${PROCESS}%')`;
  return {
    holdShards(owner, { ttlMs, latestMs }) {
      return quick.transact(async (statements) => {
        // Two processes that divide the shards at once could otherwise wait for each other's rows.
        await statements.query(lock(LOCK));
        await statements.change(
          `DELETE FROM leases WHERE ${isOurs} AND (ends_at <= ${now} OR ends_at > ${nowPlus('$1')})`,
          [latestMs],
        );
        const leases = await statements.query<{ name: string; owner: string }>(
          `SELECT name, owner FROM leases WHERE ${isOurs}`,
        );
        const owners = new Map(leases.map((lease) => [lease.name, lease.owner]));
        const held = divide(owners, owner);
        const kept = held.map((shard) => SHARD + shard);
        await statements.change(
          `DELETE FROM leases WHERE owner = $1 AND ${isOurs} AND NOT ${isIn('name', '$2')}`,
          [owner, kept],
        );
        const { values, place } = createParameters();
        const rows = placeRows(
          place,
          ['text', 'text'],
          [PROCESS + owner, ...kept].map((name) => [name, owner]),
        );
        await statements.change(
          `INSERT INTO leases (name, owner, ends_at)
           SELECT column1, column2, ${nowPlus(place(ttlMs))} FROM (VALUES ${rows}) AS held WHERE true
           ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at`,
          values,
        );
        return held;
      });
    },
    async releaseShards(owner) {
      await quick.change(`DELETE FROM leases WHERE owner = $1 AND ${isOurs}`, [owner]);
    },
  };
}

/**
 * The shards that the owner keeps or takes. All processes get an equal number, and those whose names come first one
 * more if the division leaves a rest.
 */
function divide(owners: ReadonlyMap<string, string>, owner: string): number[] {
  const processes = new Set([
    PROCESS + owner,
    ...[...owners.keys()].filter((name) => name.startsWith(PROCESS)),
  ]);
  const place = [...processes].sort().indexOf(PROCESS + owner);
  const part = Math.floor(SHARDS / processes.size) + (place < SHARDS % processes.size ? 1 : 0);
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const own = shards.filter((shard) => owners.get(SHARD + shard) === owner);
  const free = shards.filter((shard) => !owners.has(SHARD + shard));
  return [...own, ...free].slice(0, part).sort((one, other) => one - other);
}
