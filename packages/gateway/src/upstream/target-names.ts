/** Names of servers, databases and users, as keys for what is known about them across calls. */
import type { Target } from '../terms/target.ts';

/** Includes the trust: with other certificates, another server may answer at the same address. */
export function nameServer({ origin, pathPrefix, trust }: Target): string {
  return appendTrust(origin + pathPrefix, trust);
}

export function nameDatabaseByTrust({
  origin,
  pathPrefix,
  trust,
  db,
}: Pick<Target, 'origin' | 'pathPrefix' | 'trust' | 'db'>): string {
  return `${appendTrust(unifyLoopback(origin) + pathPrefix, trust)} ${db}`;
}

/** The server in a name of {@link nameDatabaseByTrust}: names of databases have no space. */
export function nameServerOfDatabase(database: string): string {
  return database.slice(0, database.lastIndexOf(' '));
}

/** The same name for every trust, because a write makes reads stale however the database is reached. */
export function nameDatabaseAcrossTrusts({
  origin,
  pathPrefix,
  db,
}: Pick<Target, 'origin' | 'pathPrefix' | 'db'>): string {
  return `${unifyLoopback(origin)}${pathPrefix} ${db}`;
}

/**
 * Includes the instance's id, because an instance that was removed and added again is another one, and the person,
 * because two persons share nothing.
 */
export function nameUser(target: Target): string {
  return `${nameDatabaseByTrust(target)} ${target.userId} ${target.instance?.id ?? ''}${target.connection === null ? '' : ` ${target.connection.person}`}`;
}

/**
 * What Odoo says of its models to these credentials, which cover server, database, user and key, is kept under this
 * name. Includes the instance's id as {@link nameUser} does.
 */
export function nameLogin({ credentialsId, instance }: Pick<Target, 'credentialsId' | 'instance'>): string {
  return `${credentialsId} ${instance?.id ?? ''}`;
}

function appendTrust(server: string, trust: Target['trust']): string {
  return trust === null ? server : `${server} ${trust.id}`;
}

/** Loopback hosts as URL.origin prints them. The last one is `::ffff:127.0.0.1`. A path may follow. */
const LOOPBACK = /^(https?:\/\/)(?:localhost|\[::1\]|\[::ffff:7f00:1\])(?=[:/]|$)/;

/**
 * Replaces the loopback names of this machine by one, so that a database has one queue and one circuit breaker under
 * all of them. Names that only DNS can compare stay as they are. The result is not an address to connect to.
 */
function unifyLoopback(origin: string): string {
  // This runs several times per call, and most hosts begin with another character.
  const first = origin[origin.startsWith('https') ? 'https://'.length : 'http://'.length];
  return first === 'l' || first === '[' ? origin.replace(LOOPBACK, '$1127.0.0.1') : origin;
}
