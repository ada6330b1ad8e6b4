/**
 * Subjects that an administrator has denied: their tokens are refused, within a second in every process. While the
 * store is unavailable, what was known of a subject stays usable for a limited time, as for keys.
 */
import { FreshCache } from '../stores/fresh-cache.ts';
import type { Awaitable, Store } from '../stores/ports.ts';
import { andThen } from '../streams/and-then.ts';

/** Subjects in memory, denied or not. About 5 MB when full. Beyond it, each call costs one store lookup. */
const CACHED_MAX = 10_000;

export interface DeniedSubjects {
  /** `id` is that of the client. Throws or rejects if the store fails and nothing is known of the subject. */
  isDenied(id: string): Awaitable<boolean>;
  close(): void;
}

/** Almost no subject is denied, so that the answer is kept for those too. */
interface Judgement {
  readonly isDenied: boolean;
}

const DENIED: Judgement = { isDenied: true };
const NOT_DENIED: Judgement = { isDenied: false };

export function createDeniedSubjects(
  store: Pick<Store, 'deniedSubjects' | 'watch' | 'isWatching'>,
): DeniedSubjects {
  const cache = new FreshCache<Judgement, Judgement>({
    max: CACHED_MAX,
    kind: 'subject',
    store,
    read: (id) => andThen(store.deniedSubjects.find(id), (row) => (row === null ? NOT_DENIED : DENIED)),
    open: (judgement) => judgement,
  });
  return {
    isDenied(id) {
      const known = cache.find(id);
      return known ? known.isDenied : andThen(cache.load(id), (judgement) => judgement?.isDenied === true);
    },
    close: () => cache.close(),
  };
}
