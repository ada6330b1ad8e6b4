/** Reads `traceparent` (W3C Trace Context, level 1). It identifies the trace of which a call is part. */

/** Version, id of the trace, id of the caller's span, flags. Later versions may have more behind them. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/;
const LENGTH = 55;

/** Null if the text is none: the specification asks to ignore it then. */
export function readTraceparent(text: string | undefined): string | null {
  if (text === undefined || !TRACEPARENT.test(text)) return null;
  return text.startsWith('00') && text.length > LENGTH ? null : text.slice(0, LENGTH);
}

/** The id of the trace in a valid `traceparent`. */
export function findTraceId(traceparent: string): string {
  return traceparent.slice(3, 35);
}
