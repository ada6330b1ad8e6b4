/** Names of servers and databases, for what is known of them across calls. */
import type { Target } from './resolve.ts';

/** What was learnt over one trust says nothing of who answers over another. */
export function nameServer({ origin, pathPrefix, trust }: Target): string {
  return trust === null ? origin + pathPrefix : `${origin}${pathPrefix} ${trust.id}`;
}

export function nameDatabase(target: Target): string {
  return `${nameServer(target)} ${target.db}`;
}

/** However it is reached: for what a write makes out of date. */
export function nameData({ origin, pathPrefix, db }: Target): string {
  return `${origin}${pathPrefix} ${db}`;
}

/** An instance that was removed and added anew is another one. */
export function nameUser(target: Target): string {
  return `${nameDatabase(target)} ${target.userId} ${target.instance?.id ?? ''}`;
}
