/** Converts the normalized values that a call writes (docs/values.md#writing). All other bytes stay. */
import { type ByteRange, type JsonSpan, readElements } from '@erp-proxy/json';
import {
  convertWrittenValues,
  type LearntTypes,
  type Parts,
  type WrittenValues,
} from '@erp-proxy/odoo/values';
import type { Call } from './parse.ts';
import { rebuildCall } from './rewrite-call.ts';

export type WrittenCall =
  | { kind: 'converted'; call: Call }
  /** `at`: the path of the values in the call. */
  | (Extract<WrittenValues, { kind: 'invalid' }> & { at: string })
  | Extract<WrittenValues, { kind: 'lacking' }>;

/** Names of the values as named arguments, in any version. */
const NAMES: ReadonlySet<string> = new Set(['vals', 'vals_list', 'values']);

/** `position`: that of the values among the positional arguments. */
export function convertWrittenCall(call: Call, position: number, { types, asked }: LearntTypes): WrittenCall {
  const known = { types, isAsked: (model: string, field: string) => asked.get(model)?.has(field) === true };
  const edits: { span: JsonSpan; parts: Parts }[] = [];
  for (const { span, path } of listValues(call, position)) {
    const written = convertWrittenValues(call.bytes, span, call.model, known);
    if (written.kind === 'lacking') return written;
    if (written.kind === 'invalid') return { ...written, at: path };
    if (written.kind === 'converted') edits.push({ span, parts: written.parts });
  }
  return { kind: 'converted', call: edits.length === 0 ? call : rewrite(call, edits) };
}

/** A value to convert, and its path in the call. */
interface PlacedValues {
  span: JsonSpan;
  path: string;
}

function listValues({ bytes, params, keyword }: Call, position: number): PlacedValues[] {
  const values: PlacedValues[] = [];
  for (const { name, value } of keyword.members)
    if (NAMES.has(name)) values.push({ span: value, path: `keyword.${name}` });
  if (params === null) return values;
  let index = 0;
  readElements(bytes, params, (element) => {
    if (index === position) values.push({ span: element, path: `params[${position}]` });
    return index++ < position;
  });
  return values;
}

function rewrite(call: Call, edits: readonly { span: JsonSpan; parts: Parts }[]): Call {
  const { params, keyword } = call;
  return rebuildCall(call, [
    ...(keyword.span === null ? ['{}'] : replace(keyword.span, edits)),
    ...(params === null ? [] : replace(params, edits)),
  ]);
}

function replace(whole: JsonSpan, edits: readonly { span: JsonSpan; parts: Parts }[]): Parts {
  const parts: (ByteRange | string)[] = [];
  let at = whole.start;
  for (const { span, parts: next } of edits) {
    if (span.start < whole.start || span.end > whole.end) continue;
    parts.push({ start: at, end: span.start });
    for (const part of next) parts.push(part);
    at = span.end;
  }
  parts.push({ start: at, end: whole.end });
  return parts;
}
