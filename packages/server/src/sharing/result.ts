/** What this folder knows of a reply that is a result: its bytes, as far as they are there. Whose reply it is stays outside. */
import type { EgressBody } from '../egress/dispatcher.ts';

export interface StreamedResult {
  pieces: Uint8Array[];
  /** What is still to come; null where `pieces` are the whole. */
  rest: EgressBody | null;
  /** The byte that pieces and rest must end with; null where any may. */
  lastByte: number | null;
  /** What follows pieces and rest. */
  tail: Uint8Array;
}
