/**
 * The types of the fields of models, as `fields_get` describes them to the credentials of a call. They are kept for a
 * while. The question is a call of the same client: it passes the steps around sending, and so waits for its turn.
 */
import type { FieldTypes } from '../../odoo/values/field-types.ts';
import { FIELD_ATTRIBUTES, readFieldTypes } from '../../odoo/values/field-types.ts';
import { type Awaitable, andThen } from '../../streams/and-then.ts';
import { readStream } from '../../streams/read-stream.ts';
import { type Kept, SingleFlightCache } from '../../streams/single-flight-cache.ts';
import { ABORTED } from '../../streams/wait.ts';
import { CallContext } from '../terms/call-context.ts';
import { startTrace } from '../terms/call-trace.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder, FoundTypes } from '../terms/field-finder.ts';
import type { TargetedCall } from '../terms/method-call.ts';
import { isResult, type Reply, type ResultReply } from '../terms/reply.ts';
import { RequestTime } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { denyUnsent } from '../terms/upstream-denials.ts';

export interface ModelFieldsOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** Runs the steps around sending for a call of `fields_get`. */
export type RunFieldsGet = (call: TargetedCall, context: CallContext) => Promise<Reply>;

/** What is kept of a model. */
interface ModelEntry {
  found: FoundTypes;
  /** When a field was looked for in vain, by its name. Survives a new question. */
  missing: Map<string, number>;
}

/** Maximum number of fields of all models that are kept. A field takes some 100 bytes. */
const FIELDS_MAX = 200_000;
const KEPT_MS = 10 * 60 * 1000;
/** For a server that does not answer the question. */
const KEPT_FAILURE_MS = 30_000;
/** A field that does not exist is not looked for again within this time. */
const MISSING_MS = 10_000;
const MISSING_MAX = 1000;
/** Time limit of the question. */
const ANSWER_MS = 15_000;
/** The largest models of Odoo take some 50 KB. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const POSITIONAL = Buffer.from('[]');
const NAMED = Buffer.from(FIELD_ATTRIBUTES);

export interface FieldFinderDeps {
  modelFields: ModelFields;
}

/** Returns the finder that asks servers by `run`. */
export function createFieldFinder({ modelFields }: FieldFinderDeps, run: RunFieldsGet): FieldFinder {
  return { find: (of, names, context) => modelFields.find(of, names, context, run) };
}

export class ModelFields {
  readonly #nowMs: () => number;
  readonly #entries: SingleFlightCache<ModelEntry>;

  constructor({ nowMs }: ModelFieldsOptions) {
    this.#nowMs = nowMs;
    this.#entries = new SingleFlightCache(FIELDS_MAX, nowMs, weigh);
  }

  find(
    of: Parameters<FieldFinder['find']>[0],
    names: Iterable<string>,
    context: CallContext,
    run: RunFieldsGet,
  ): Awaitable<FoundTypes> {
    const key = nameModel(of);
    const { signal } = context.time;
    const ask = (missing: ModelEntry['missing']) => () => this.#ask(of, missing, context, run);
    return andThen(this.#entries.get(key, ask(new Map()), signal), (known) => {
      if (known === ABORTED) return { failed: denyUnsent({ isReadOnly: true }) };
      if (!this.#lacksAny(known, names)) return known.found;
      this.#entries.forget(key);
      return andThen(this.#entries.get(key, ask(known.missing), signal), (now) =>
        now === ABORTED ? known.found : this.#noteMissing(now, names),
      );
    });
  }

  #lacksAny({ found, missing }: ModelEntry, names: Iterable<string>): boolean {
    if ('failed' in found) return false;
    const nowMs = this.#nowMs();
    for (const name of names) {
      if (found.types.has(name)) continue;
      const lookedMs = missing.get(name);
      if (lookedMs === undefined || nowMs - lookedMs >= MISSING_MS) return true;
    }
    return false;
  }

  #noteMissing({ found, missing }: ModelEntry, names: Iterable<string>): FoundTypes {
    if ('failed' in found) return found;
    if (missing.size > MISSING_MAX) missing.clear();
    for (const name of names) if (!found.types.has(name)) missing.set(name, this.#nowMs());
    return found;
  }

  async #ask(
    { target, model }: { target: Target; model: string },
    missing: ModelEntry['missing'],
    { request, client, index, bytes, isUnchanged, time: callerTime }: CallContext,
    run: RunFieldsGet,
  ): Promise<Kept<ModelEntry>> {
    const time = new RequestTime({ nowMs: this.#nowMs, defaultMs: ANSWER_MS });
    const trace = startTrace(this.#nowMs());
    const context = new CallContext({ request, client, time, trace, index, bytes, isUnchanged });
    const endAtShutdown = () => {
      if (callerTime.deadline.reason === 'shutdown') time.deadline.end('shutdown');
    };
    callerTime.signal.addEventListener('abort', endAtShutdown);
    time.start(null);
    try {
      const call: TargetedCall = {
        target,
        model,
        method: 'fields_get',
        params: POSITIONAL,
        keyword: NAMED,
        records: 'unsaid',
        isReadOnly: true,
      };
      const found = await readReply(await run(call, context));
      return { value: { found, missing }, ttlMs: chooseTtlMs(found) };
    } finally {
      callerTime.signal.removeEventListener('abort', endAtShutdown);
      context.release();
      time.deadline.clear();
    }
  }
}

/** The credentials cover server, database, user and key. */
function nameModel({ target, model }: { target: Target; model: string }): string {
  return `${target.credentialsId} ${target.instance?.id ?? ''} ${model}`;
}

function weigh({ found }: ModelEntry): number {
  return 'failed' in found ? 1 : Math.max(1, found.types.size);
}

/** Nothing is kept that says more about the credentials or the moment than about the model. */
function chooseTtlMs(found: FoundTypes): number {
  if (!('failed' in found)) return KEPT_MS;
  const { failed } = found;
  if (failed instanceof Denial) return failed.type === 'upstream_bad_response' ? KEPT_FAILURE_MS : 0;
  const { type, retryable } = failed.fault.data;
  return retryable || type === 'access_denied' ? 0 : KEPT_FAILURE_MS;
}

async function readReply(reply: Reply): Promise<FoundTypes> {
  if (!isResult(reply)) {
    if (reply instanceof Denial || reply.kind === 'fault') return { failed: reply };
    return { failed: UNREADABLE };
  }
  const result = await readWhole(reply).catch(() => null);
  const types: FieldTypes | null = result === null ? null : readFieldTypes(result);
  return types === null ? { failed: UNREADABLE } : { types };
}

/** The value alone; null if it is too large. */
async function readWhole({ pieces, rest, tail }: ResultReply): Promise<Buffer | null> {
  const arrived = Buffer.concat(pieces);
  const missing = rest === null ? Buffer.alloc(0) : await readStream(rest, ANSWER_BYTES_MAX);
  if (missing === null || arrived.length + missing.length > ANSWER_BYTES_MAX) return null;
  const whole = Buffer.concat([arrived, missing, tail]);
  // The closing brace of the envelope is the last one.
  return whole.subarray(0, whole.lastIndexOf(CLOSING_BRACE));
}

const CLOSING_BRACE = 0x7d;
const UNREADABLE = new Denial(
  'upstream_bad_response',
  'Odoo did not describe the fields of the model in a form that can be read.',
  { outcome: 'not_sent' },
);
