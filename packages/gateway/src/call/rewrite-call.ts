/** Builds a call with other values of some arguments. All other bytes stay those of the caller. */
import {
  type ByteRange,
  type JsonSpan,
  joinParts,
  readMembers,
  setMembers,
  skipValue,
} from '@erp-proxy/json';
import type { Json2Call } from './parse-json2.ts';
import type { ArgumentSpans } from './place-arguments.ts';

/** Ranges of the bytes of the call, and texts. */
export type Parts = readonly (ByteRange | string)[];

/** A positional argument, and its new value. */
export interface PlacedValue {
  span: JsonSpan;
  value: string;
}

/** The new bytes have `keyword` before `params`. */
export function rewriteCall<Given extends ArgumentSpans>(
  call: Given,
  named: ReadonlyMap<string, Parts>,
  placed: PlacedValue | null,
): Given {
  if (placed === null && named.size === 0) return call;
  const { params, keyword } = call;
  const parts = [
    ...setMembers(keyword.span, keyword.members, named),
    ...(params === null ? [] : setPlaced(params, placed)),
  ];
  return rebuildCall(call, parts);
}

/** Builds the call from the parts of `keyword`, followed by those of `params` if the call has them. */
export function rebuildCall<Given extends ArgumentSpans>(call: Given, parts: Parts): Given {
  const bytes = joinParts(call.bytes, parts);
  const span: JsonSpan = { kind: 'object', start: 0, end: skipValue(bytes, 0) };
  return {
    ...call,
    bytes,
    keyword: { span, members: readMembers(bytes, span) },
    params: call.params && { kind: 'array', start: span.end, end: bytes.length },
  };
}

export function rewriteJson2Call(call: Json2Call, named: ReadonlyMap<string, Parts>): Json2Call {
  if (named.size === 0) return call;
  const { kwargs } = call;
  const bytes = joinParts(call.bytes, setMembers(kwargs.span, kwargs.members, named));
  const span: JsonSpan = { kind: 'object', start: 0, end: bytes.length };
  return { ...call, bytes, kwargs: { span, members: readMembers(bytes, span) } };
}

function setPlaced(array: JsonSpan, placed: PlacedValue | null): Parts {
  if (placed === null) return [array];
  const { span, value } = placed;
  return [{ start: array.start, end: span.start }, value, { start: span.end, end: array.end }];
}
