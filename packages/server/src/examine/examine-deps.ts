/** What the checks of a server need: the parts of a call, and the operator's egress setting. */
import type { MethodDeps } from '../execute/upstream/send-method.ts';

export interface ExamineDeps extends MethodDeps {
  /** The setting `egress.allow`, to suggest a missing entry. */
  allow: readonly string[];
  /** Milliseconds since 1970. */
  clock: () => number;
}
