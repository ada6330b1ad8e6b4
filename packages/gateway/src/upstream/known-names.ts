/**
 * The names of models and of their fields, as Odoo lists them to the credentials of a call. They are kept for a while,
 * and so is the fact that there are none to be had: callers that repeat a mistake must not make Odoo work for it again.
 */

import { type Kept, SingleFlightCache } from '@erp-proxy/async/tasks';
import { MODEL_NAMES_ARGUMENTS, readModelNames } from '@erp-proxy/odoo';
import type { CallContext } from '../terms/call-context.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { Target } from '../terms/target.ts';
import { askServer, type RunQuestion } from './ask-server.ts';
import { nameLogin } from './target-names.ts';

export interface KnownNamesOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** How names are asked for. */
export interface NameSources {
  fields: FieldFinder;
  run: RunQuestion;
}

/** Maximum number of names of all models that are kept. A name takes some 50 bytes. */
const KEPT_NAMES_MAX = 200_000;
const KEPT_MODELS_MS = 10 * 60 * 1000;
/** Fields are kept elsewhere too, as long as models are. */
const KEPT_FIELDS_MS = 60 * 1000;
const KEPT_FAILURE_MS = 30 * 1000;
/** Comparing more names would delay other calls. Models of Odoo have up to 1000 fields. */
const NAMES_MAX = 5000;
/** PostgreSQL's limit for names of tables and columns is 63. */
const NAME_LENGTH_MAX = 64;
const LISTED = Buffer.from(MODEL_NAMES_ARGUMENTS);

export class KnownNames {
  readonly #nowMs: () => number;
  readonly #entries: SingleFlightCache<readonly string[]>;

  constructor({ nowMs }: KnownNamesOptions) {
    this.#nowMs = nowMs;
    this.#entries = new SingleFlightCache(KEPT_NAMES_MAX, nowMs, ({ length }) => Math.max(1, length));
  }

  /** In alphabetical order; empty if they cannot be found. */
  async findFields(
    of: { target: Target; model: string },
    { fields }: NameSources,
    context: CallContext,
  ): Promise<readonly string[]> {
    return await this.#entries.get(`${nameLogin(of.target)} ${of.model}`, async () => {
      const found = await fields.find(of, [], context);
      if (!('failed' in found)) return keep(found.types.keys(), KEPT_FIELDS_MS);
      // Then the caller has left, and the failure says nothing about the model.
      return context.time.signal.aborted ? { value: [], ttlMs: 0 } : FAILED;
    });
  }

  /** The same for models. */
  async findModels(target: Target, { run }: NameSources, context: CallContext): Promise<readonly string[]> {
    return await this.#entries.get(nameLogin(target), async () => {
      const question = { target, model: 'ir.model', method: 'search_read', keyword: LISTED };
      const answer = await askServer(question, context, run, this.#nowMs);
      const names = 'failed' in answer ? null : readModelNames(answer.result);
      return names === null ? FAILED : keep(names, KEPT_MODELS_MS);
    });
  }
}

const FAILED: Kept<readonly string[]> = { value: [], ttlMs: KEPT_FAILURE_MS };

function keep(names: Iterable<string>, ttlMs: number): Kept<readonly string[]> {
  const short = [...names].filter(({ length }) => length <= NAME_LENGTH_MAX);
  return { value: short.sort().slice(0, NAMES_MAX), ttlMs };
}
