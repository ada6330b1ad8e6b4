/** Sets members of the context of a request that moves data. */

import { describe, invalid } from '@erp-proxy/gateway/call';
import type { Denial } from '@erp-proxy/gateway/terms';
import { isEmptyArray, type JsonSpan, joinParts, readKind, readMembers, setMembers } from '@erp-proxy/json';

/** Maximum members of a context, the same as in a call. */
const MEMBERS_MAX = 1000;

/** `context`: JSON text, or null. `values`: JSON texts by name. Other members are checked when the call is sent. */
export function setContextMembers(
  context: Uint8Array | null,
  values: ReadonlyMap<string, string>,
): Uint8Array | Denial {
  const bytes = context === null || isLeftOut(context) ? Buffer.from('{}') : context;
  const span = readSpan(bytes);
  if (span.kind !== 'object') {
    return invalid('context', `\`context\` must be an object, not ${describe(span)}.`);
  }
  const members = readMembers(bytes, span, MEMBERS_MAX + 1);
  const parts = new Map([...values].map(([name, value]) => [name, [value]]));
  return joinParts(bytes, setMembers(span, members, parts));
}

/** True for `false` and `[]`, which an execute call treats as no context, too (docs/execute.md#context). */
function isLeftOut(context: Uint8Array): boolean {
  const span = readSpan(context);
  return span.kind === 'false' || isEmptyArray(context, span);
}

function readSpan(value: Uint8Array): JsonSpan {
  return { kind: readKind(value, 0), start: 0, end: value.length };
}
