/**
 * Converts the values that a call writes into those of Odoo, for a caller that prefers normalized values
 * (docs/values.md). Either all values are converted or the call is not sent.
 */
import { type FieldTypes, findResultForm } from '@erp-proxy/odoo/values';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { explainFailure } from '../terms/upstream-denials.ts';
import * as largeCalls from '../thread/large-calls.ts';
import type { Call } from './parse.ts';

/** The position of the values, by method. */
const WRITES: ReadonlyMap<string, number> = new Map([
  ['create', 0],
  ['write', 1],
]);
/** Commands are nested through at most this number of models. */
const MODELS_MAX = 16;

export function hasValues({ method }: Call): boolean {
  return WRITES.has(method) || findResultForm(method) !== null;
}

export async function convertValues(
  call: Call,
  target: Target,
  context: CallContext,
  fields: FieldFinder,
): Promise<{ call: Call } | { reply: Reply }> {
  const position = WRITES.get(call.method);
  if (position === undefined) return { call };
  const types = new Map<string, FieldTypes>();
  const asked = new Map<string, Set<string>>();
  const find = async (model: string, names: Iterable<string>): Promise<FaultReply | Denial | null> => {
    const known = asked.get(model) ?? new Set();
    asked.set(model, known);
    for (const name of names) known.add(name);
    if (!types.has(model) && types.size === MODELS_MAX) return TOO_MANY_MODELS;
    const found = await fields.find({ target, model }, names, context);
    if ('failed' in found) return explain(found.failed, model);
    types.set(model, found.types);
    return null;
  };
  const failed = await find(call.model, []);
  if (failed !== null) return { reply: failed };
  for (;;) {
    const learnt = { types, asked };
    const written = await largeCalls.convertWrittenCall(call, position, learnt, context.time.signal);
    if (written.kind === 'invalid')
      return { reply: denyValue(written.at, written.value.path, written.value.expected) };
    if (written.kind === 'converted') {
      context.trace.areValuesNormalized = true;
      return { call: written.call };
    }
    for (const [model, names] of written.fields) {
      const lacking = await find(model, names);
      if (lacking !== null) return { reply: lacking };
    }
  }
}

function denyValue(path: string, below: string, expected: string): Denial {
  const whole = below === '' || below.startsWith('[') ? `${path}${below}` : `${path}.${below}`;
  return new Denial('invalid_params', `\`${whole}\` must be ${expected}. Nothing was written.`, {
    path: whole,
  });
}

/** Without the types nothing is written: half of the values would be those of Odoo. */
function explain(failed: FaultReply | Denial, model: string): FaultReply | Denial {
  return explainFailure(
    failed,
    `The types of the fields of \`${model}\` are needed for \`prefer: values=normalized\`, and could not be read. Nothing was written.`,
  );
}

const TOO_MANY_MODELS = new Denial(
  'invalid_params',
  `The values name records of more than ${MODELS_MAX} models. Send them in several calls, or without \`prefer: values=normalized\`. Nothing was written.`,
);
