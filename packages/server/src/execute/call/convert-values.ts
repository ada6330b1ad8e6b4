/**
 * Converts the values that a call writes into those of Odoo, for a caller that prefers normalized values
 * (docs/values.md). Either all values are converted or the call is not sent.
 */
import { readElements } from '../../json/elements.ts';
import type { ByteRange, JsonSpan } from '../../json/span.ts';
import type { FieldTypes } from '../../odoo/values/field-types.ts';
import { findResultForm } from '../../odoo/values/record-shape.ts';
import { convertWrittenValues, type KnownTypes, type Parts } from '../../odoo/values/written-values.ts';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { CHANGED } from '../terms/upstream-denials.ts';
import { explainFailure } from './explain-failure.ts';
import type { Call } from './parse.ts';
import { rebuildCall } from './rewrite-call.ts';

/** The position of the values, by method. */
const WRITES: ReadonlyMap<string, number> = new Map([
  ['create', 0],
  ['write', 1],
]);
/** Names of the values as named arguments, in any version. */
const NAMES: ReadonlySet<string> = new Set(['vals', 'vals_list', 'values']);
/** Commands are nested through at most this number of models. */
const MODELS_MAX = 16;

export function hasValues({ method }: Call): boolean {
  return WRITES.has(method) || findResultForm(method) !== null;
}

export function convertValues(
  call: Call,
  target: Target,
  context: CallContext,
  fields: FieldFinder,
): { call: Call } | Promise<{ call: Call } | { reply: Reply }> {
  const position = WRITES.get(call.method);
  if (position === undefined) return { call };
  return convertWrite(call, listValues(call, position), target, context, fields);
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

async function convertWrite(
  call: Call,
  values: readonly PlacedValues[],
  target: Target,
  context: CallContext,
  fields: FieldFinder,
): Promise<{ call: Call } | { reply: Reply }> {
  const types = new Map<string, FieldTypes>();
  const asked = new Set<string>();
  const known: KnownTypes = { types, isAsked: (model, field) => asked.has(`${model} ${field}`) };
  const find = async (model: string, names: Iterable<string>): Promise<FaultReply | Denial | null> => {
    for (const name of names) asked.add(`${model} ${name}`);
    if (!types.has(model) && types.size === MODELS_MAX) return TOO_MANY_MODELS;
    const found = await fields.find({ target, model }, names, context);
    if ('failed' in found) return explain(found.failed, model);
    types.set(model, found.types);
    return null;
  };
  const failed = await find(call.model, []);
  if (failed !== null) return { reply: failed };
  const edits: { span: JsonSpan; parts: Parts }[] = [];
  for (let index = 0; index < values.length; ) {
    const { span, path } = values[index]!;
    const written = convertWrittenValues(call.bytes, span, call.model, known);
    if (written.kind === 'lacking') {
      for (const [model, names] of written.fields) {
        const lacking = await find(model, names);
        if (lacking !== null) return { reply: lacking };
      }
      continue;
    }
    if (written.kind === 'invalid')
      return { reply: denyValue(path, written.value.path, written.value.expected) };
    if (written.kind === 'converted') edits.push({ span, parts: written.parts });
    index++;
  }
  context.trace.areValuesNormalized = true;
  return { call: edits.length === 0 ? call : rewrite(call, edits) };
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
    parts.push({ start: at, end: span.start }, ...next);
    at = span.end;
  }
  parts.push({ start: at, end: whole.end });
  return parts;
}

function denyValue(path: string, below: string, expected: string): Denial {
  const whole = below === '' || below.startsWith('[') ? `${path}${below}` : `${path}.${below}`;
  return new Denial(
    'invalid_params',
    `\`${whole}\` must be ${expected} with \`prefer: values=normalized\`. Nothing was written.`,
    { path: whole },
  );
}

/** Without the types nothing is written: half of the values would be those of Odoo. */
function explain(failed: FaultReply | Denial, model: string): FaultReply | Denial {
  if (failed === CHANGED) return failed;
  return explainFailure(
    failed,
    `The types of the fields of \`${model}\` are needed for \`prefer: values=normalized\`, and could not be read. Nothing was written.`,
  );
}

const TOO_MANY_MODELS = new Denial(
  'invalid_params',
  `The values name records of more than ${MODELS_MAX} models. Send them in several calls, or without \`prefer: values=normalized\`. Nothing was written.`,
);
