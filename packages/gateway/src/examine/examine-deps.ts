/** The parts that the checks of a server need: those of a call, and the operator's egress setting. */
import type { MethodDeps } from '../upstream/send-call.ts';

export interface ExamineDeps extends MethodDeps {
  /** The setting `egress.allow`, so that a missing entry can be suggested. */
  allow: readonly string[];
  /** Milliseconds since 1970. */
  clock: () => number;
}
