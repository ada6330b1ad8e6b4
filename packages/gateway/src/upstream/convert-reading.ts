/**
 * Step: converts the values of a result for a caller that prefers normalized values (docs/values.md). It precedes
 * shareRead, so that its part of the reply comes last: what callers share and what is kept stays as Odoo printed it.
 */

import { type ByteStream, chain, readStream } from '@erp-proxy/async/streams';
import { createPauses, TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import {
  findResultForm,
  type NamedFields,
  type RecordShape,
  ResultConverter,
  type ResultForm,
  type UnknownField,
} from '@erp-proxy/odoo/values';
import { type CallContext, unlessChanged } from '../terms/call-context.ts';
import type { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { TargetedCall } from '../terms/method-call.ts';
import type { Step } from '../terms/operation.ts';
import { type FaultReply, isResult, type Reply } from '../terms/reply.ts';
import * as largeCalls from '../thread/large-calls.ts';

/** Names of related records are looked up in at most this number of models. */
const MODELS_MAX = 32;
/**
 * Wait for the type of a field that shows only in the result. The read may keep the last free worker busy until its
 * answer is taken.
 */
const LEARN_MS = 2000;
/** Other work may run after this many unknown fields: for each, the converter copies the bytes that it has left. */
const STOPS_MAX = 16;

export function convertReading(fields: FieldFinder): Step<TargetedCall> {
  return async function convertReading(call, context, next) {
    const form = context.areValuesNormalized ? findResultForm(call.method) : null;
    if (form === null) return await next(context);
    const named = await largeCalls.readNamedFields(call, context.time.signal);
    const shape = await findShape(call, named, context);
    if ('failed' in shape) {
      // The headers of a batch and the stored answer of an idempotency key promise normalized values.
      const isPromised = context.request.isBatch || context.idempotencyKey !== null;
      return isPromised ? await unlessChanged(context, shape.failed) : await next(context);
    }
    const learn = createLearner(shape, call, context);
    return await convertReply(await next(context), { shape, form, learn, context });
  };

  /** Types of related models that cannot be found are left out. */
  async function findShape(
    { target, model }: TargetedCall,
    named: NamedFields,
    context: CallContext,
  ): Promise<RecordShape | { failed: FaultReply | Denial }> {
    const models = new Set<string>();
    const find = async (of: string, { names, nested }: NamedFields) => {
      const found = await fields.find({ target, model: of }, names, context);
      if ('failed' in found) return found;
      const shapes = new Map<string, RecordShape>();
      for (const [name, below] of nested) {
        const relation = found.types.get(name)?.relation ?? null;
        if (relation === null || models.size >= MODELS_MAX) continue;
        models.add(relation);
        const shape: RecordShape | { failed: FaultReply | Denial } = await find(relation, below);
        if (!('failed' in shape)) shapes.set(name, shape);
      }
      return { model: of, types: found.types, nested: shapes };
    };
    return await find(model, named);
  }

  /** An answer has all fields of a model: the unknown fields of a result cause one question for each model. */
  function createLearner(shape: RecordShape, { target }: TargetedCall, context: CallContext) {
    const asked = new Set<string>();
    const pauseAfter = createPauses(STOPS_MAX);
    return async function learnField({ model, name, types }: UnknownField): Promise<void> {
      await pauseAfter(1);
      if (asked.has(model)) return;
      const known = await waitFor(fields.find({ target, model }, [name], context), { timeoutMs: LEARN_MS });
      const learnt = known === TIMED_OUT || 'failed' in known ? null : known.types;
      // A field that was looked for a moment ago causes no question.
      if (learnt === types) return;
      asked.add(model);
      if (learnt !== null) replaceTypes(shape, model, learnt);
    };
  }
}

interface Conversion {
  shape: RecordShape;
  form: ResultForm;
  learn: (field: UnknownField) => Promise<void>;
  context: CallContext;
}

async function convertReply(reply: Reply, conversion: Conversion): Promise<Reply> {
  const { shape, form, learn, context } = conversion;
  const isKept = 'kind' in reply && reply.kind === 'kept';
  if (isKept || isResult(reply)) context.trace.areValuesNormalized = true;
  if (!isResult(reply)) return reply;
  const { pieces, rest } = reply;
  const stream = new ConvertedStream(chain(pieces, rest), new ResultConverter(shape, form), learn);
  if (rest !== null) return { ...reply, pieces: [], rest: stream, lengthBytes: null };
  const value = await readStream(stream);
  return { ...reply, pieces: [value], lengthBytes: value.length };
}

function replaceTypes(shape: RecordShape, model: string, types: RecordShape['types']): void {
  if (shape.model === model) shape.types = types;
  for (const below of shape.nested.values()) replaceTypes(below, model, types);
}

/**
 * Bytes that are converted at once. Before the code is compiled, this many bytes of records with a thousand fields take
 * 12 ms on a slow machine.
 */
const PART_BYTES = 64 * 1024;
/** A shorter piece counts as this many bytes: those that the converter has kept are read again. */
const PIECE_BYTES = 16 * 1024;

const NOTHING = Buffer.alloc(0);

/** Converts the values of a result while it arrives. The calls of others run between its parts. */
export class ConvertedStream implements ByteStream {
  readonly #source: ByteStream;
  readonly #converter: ResultConverter;
  readonly #learn: (field: UnknownField) => Promise<void>;
  readonly #pauseAfter = createPauses(PART_BYTES);
  /** What is left of the last piece. */
  #rest: Uint8Array = NOTHING;
  #isEnded = false;

  /** `learn` asks for the types of the shape of the converter again. */
  constructor(source: ByteStream, converter: ResultConverter, learn: (field: UnknownField) => Promise<void>) {
    this.#source = source;
    this.#converter = converter;
    this.#learn = learn;
  }

  async next(): Promise<Uint8Array | null> {
    while (!this.#isEnded) {
      const converted = await this.#convertNext();
      if (converted.length > 0) return converted;
    }
    return null;
  }

  cancel(): void {
    this.#source.cancel();
  }

  async #convertNext(): Promise<Uint8Array> {
    const converter = this.#converter;
    if (converter.unknown !== null) {
      await this.#learn(converter.unknown);
      return converter.learn();
    }
    if (this.#rest.length === 0) {
      const piece = await this.#source.next();
      if (piece === null) {
        this.#isEnded = true;
        return converter.end();
      }
      this.#rest = piece;
    }
    const part = this.#rest.subarray(0, PART_BYTES);
    this.#rest = this.#rest.subarray(PART_BYTES);
    await this.#pauseAfter(Math.max(part.length, PIECE_BYTES));
    return converter.push(part);
  }
}
