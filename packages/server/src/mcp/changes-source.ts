/** The interface through which tools read changes of records. Implemented in data/changes/. */
import type { Conversation } from '../execute/terms/conversation.ts';
import type { Denial } from '../execute/terms/denial.ts';

export interface ChangesSource {
  /** `bytes`: the body of a request for changes (docs/changes.md). `error`: a whole answer with an error. */
  read(
    bytes: Uint8Array,
    conversation: Conversation,
  ): Promise<ChangesPage | { denial: Denial } | { error: Uint8Array }>;
}

interface ChangesPage {
  changes: readonly ReadChange[];
  cursor: string;
  more: boolean;
  /** The first field whose value is null in place of NaN or Infinity; null: none. */
  nullField: string | null;
}

interface ReadChange {
  change: 'upsert' | 'left';
  id: number;
  at: string | null;
  /** JSON text; null for `left`. */
  record: Uint8Array | null;
}
