/**
 * Subjects that an administrator has denied: their tokens are refused, within a second in every process. While the
 * store is unavailable, what was known of a subject stays usable for a limited time, as for keys.
 */
import { FreshCache } from '../stores/fresh-cache.ts';
import type { Store } from '../stores/ports/store.ts';

/** Subjects in memory, denied or not. About 5 MB when full. Beyond it, each call costs one store lookup. */
const CACHED_MAX = 10_000;

export interface DeniedSubjects {
  /** `id` is that of the client. Rejects if the store fails and nothing is known of the subject. */
  isDenied(id: string): Promise<boolean>;
  close(): void;
}

/** Almost no subject is denied, so that the answer is kept for those too. */
interface Decision {
  readonly isDenied: boolean;
}

const DENIED: Decision = { isDenied: true };
const NOT_DENIED: Decision = { isDenied: false };

export function createDeniedSubjects(
  store: Pick<Store, 'deniedSubjects' | 'watch' | 'isWatching'>,
): DeniedSubjects {
  const cache = new FreshCache<Decision, Decision>({
    max: CACHED_MAX,
    kind: 'subject',
    store,
    read: async (id) => ((await store.deniedSubjects.find(id)) === null ? NOT_DENIED : DENIED),
    open: (decision) => decision,
  });
  return {
    async isDenied(id) {
      const decision = cache.find(id) ?? (await cache.load(id));
      return decision?.isDenied === true;
    },
    close: () => cache.close(),
  };
}
