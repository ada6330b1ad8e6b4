/**
 * The types of the fields of models, as `fields_get` describes them to the credentials of a call. They are kept for a
 * while.
 */

import { ABORTED, type Kept, SingleFlightCache } from '@erp-proxy/async/tasks';
import { countNames, FIELD_ATTRIBUTES, type FieldTypes, readFieldTypes } from '@erp-proxy/odoo/values';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder, FoundTypes } from '../terms/field-finder.ts';
import type { Target } from '../terms/target.ts';
import { denyUnsent } from '../terms/upstream-denials.ts';
import { askServer, type RunQuestion, type ServerAnswer, UNREADABLE } from './ask-server.ts';
import { nameLogin } from './target-names.ts';

export interface ModelFieldsOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** What is kept of a model. */
interface ModelEntry {
  found: FoundTypes;
  /** When a field was looked for in vain, by its name. Survives a new question. */
  missing: Map<string, number>;
  /** The number of its fields and of those on which they depend, or more if their names and texts are long. */
  weight: number;
}

/** Maximum number of fields of all models that are kept, with the names on which they depend. */
const FIELDS_MAX = 200_000;
/** As JSON. A longer one counts as several. */
const FIELD_BYTES_MAX = 200;
const KEPT_MS = 10 * 60 * 1000;
/** For a server that does not answer the question. */
const KEPT_FAILURE_MS = 30_000;
/** A field that does not exist is not looked for again within this time. */
const MISSING_MS = 10_000;
const MISSING_MAX = 1000;
const NAMED = Buffer.from(FIELD_ATTRIBUTES);

export interface FieldFinderDeps {
  modelFields: ModelFields;
}

/** Returns the finder that asks servers by `run`. */
export function createFieldFinder({ modelFields }: FieldFinderDeps, run: RunQuestion): FieldFinder {
  return {
    find: (of, names, context) => modelFields.find(of, names, context, run),
    recall: (of) => modelFields.recall(of),
  };
}

export class ModelFields {
  readonly #nowMs: () => number;
  readonly #entries: SingleFlightCache<ModelEntry>;

  constructor({ nowMs }: ModelFieldsOptions) {
    this.#nowMs = nowMs;
    this.#entries = new SingleFlightCache(FIELDS_MAX, nowMs, ({ weight }) => weight);
  }

  async find(
    of: Parameters<FieldFinder['find']>[0],
    names: Iterable<string>,
    context: CallContext,
    run: RunQuestion,
  ): Promise<FoundTypes> {
    const key = nameModel(of);
    const { signal } = context.time;
    const ask = (missing: ModelEntry['missing']) => () => this.#ask(of, missing, context, run);
    const known = await this.#entries.get(key, ask(new Map()), signal);
    if (known === ABORTED) return { failed: denyUnsent({ isReadOnly: true }) };
    if (!this.#lacksAny(known, names)) return known.found;
    this.#entries.forget(key);
    const now = await this.#entries.get(key, ask(known.missing), signal);
    return now === ABORTED ? known.found : this.#recordMissing(now, names);
  }

  recall(of: Parameters<FieldFinder['recall']>[0]): FieldTypes | null {
    const found = this.#entries.recall(nameModel(of))?.found;
    return found !== undefined && 'types' in found ? found.types : null;
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

  #recordMissing({ found, missing }: ModelEntry, names: Iterable<string>): FoundTypes {
    if ('failed' in found) return found;
    if (missing.size > MISSING_MAX) missing.clear();
    for (const name of names) if (!found.types.has(name)) missing.set(name, this.#nowMs());
    return found;
  }

  async #ask(
    of: Parameters<FieldFinder['find']>[0],
    missing: ModelEntry['missing'],
    context: CallContext,
    run: RunQuestion,
  ): Promise<Kept<ModelEntry>> {
    const question = { ...of, method: 'fields_get', keyword: NAMED };
    const answer = await askServer(question, context, run, this.#nowMs);
    const found = readTypes(answer);
    return { value: { found, missing, weight: weigh(answer, found) }, ttlMs: chooseTtlMs(found) };
  }
}

function nameModel({ target, model }: { target: Target; model: string }): string {
  return `${nameLogin(target)} ${model}`;
}

function weigh(answer: ServerAnswer, found: FoundTypes): number {
  if ('failed' in answer || 'failed' in found) return 1;
  return Math.max(1, countNames(found.types), Math.ceil(answer.result.length / FIELD_BYTES_MAX));
}

/** Nothing is kept that says more about the credentials or the moment than about the model. */
function chooseTtlMs(found: FoundTypes): number {
  if (!('failed' in found)) return KEPT_MS;
  const { failed } = found;
  if (failed instanceof Denial) return failed.type === 'upstream_bad_response' ? KEPT_FAILURE_MS : 0;
  const { type, retryable } = failed.fault.data;
  return retryable || type === 'access_denied' ? 0 : KEPT_FAILURE_MS;
}

function readTypes(answer: ServerAnswer): FoundTypes {
  if ('failed' in answer) return answer;
  const types = readFieldTypes(answer.result);
  return types === null ? { failed: UNREADABLE } : { types };
}
