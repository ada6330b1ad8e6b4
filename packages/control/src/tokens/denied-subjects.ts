/**
 * Subjects that an administrator has denied: every process refuses their tokens within a second. While the store is
 * unavailable, cached answers stay usable for a limited time, as with keys.
 */
import { FreshCache } from '@erp-proxy/stores/fresh-cache';
import type { Store } from '@erp-proxy/stores/ports';

/** Maximum number of cached subjects, denied or not: about 5 MB. With more, a call may cost one store lookup. */
const CACHED_MAX = 10_000;

export interface DeniedSubjects {
  /** `id` is the id of the client. Rejects if the store fails and the answer is not cached. */
  isDenied(id: string): Promise<boolean>;
  close(): void;
}

/** Whether a subject is denied. Almost none is, so the answer is also cached for subjects that are not denied. */
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
