/** Names of servers and databases, for what is known of them across calls. */
import type { Target } from '../terms/target.ts';

/** What was learnt over one trust says nothing of who answers over another. */
export function nameServer({ origin, pathPrefix, trust }: Target): string {
  return appendTrust(origin + pathPrefix, trust);
}

export function nameDatabaseByTrust({ origin, pathPrefix, trust, db }: Target): string {
  return `${appendTrust(unifyLoopback(origin) + pathPrefix, trust)} ${db}`;
}

/** However it is reached: for what a write makes out of date. */
export function nameDatabaseAcrossTrusts({
  origin,
  pathPrefix,
  db,
}: Pick<Target, 'origin' | 'pathPrefix' | 'db'>): string {
  return `${unifyLoopback(origin)}${pathPrefix} ${db}`;
}

/** An instance that was removed and added anew is another one. */
export function nameUser(target: Target): string {
  return `${nameDatabaseByTrust(target)} ${target.userId} ${target.instance?.id ?? ''}`;
}

function appendTrust(server: string, trust: Target['trust']): string {
  return trust === null ? server : `${server} ${trust.id}`;
}

/** As URL.origin prints them; the last one is `::ffff:127.0.0.1`. A path may follow. */
const LOOPBACK = /^(https?:\/\/)(?:localhost|\[::1\]|\[::ffff:7f00:1\])(?=[:/]|$)/;

/**
 * The names of this machine for itself are one, so that a database has one queue and one breaker by whatever name it is
 * called. Names that DNS would have to tell apart are left as they are. Not an address to connect to.
 */
function unifyLoopback(origin: string): string {
  // Asked several times a call, and most hosts begin with another character.
  const first = origin[origin.startsWith('https') ? 'https://'.length : 'http://'.length];
  return first === 'l' || first === '[' ? origin.replace(LOOPBACK, '$1127.0.0.1') : origin;
}
