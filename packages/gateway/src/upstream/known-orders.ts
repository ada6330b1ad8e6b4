/**
 * The orders of models, as Odoo describes them to the credentials of a call. They are kept for a while, and so is the
 * fact that there are none to be had: 14 does not describe them, and other versions only to users who may read
 * `ir.model`.
 */

import { ABORTED, type Kept, SingleFlightCache } from '@erp-proxy/async/tasks';
import { MODEL_ORDERS_ARGUMENTS, type ModelOrders, readModelOrders } from '@erp-proxy/odoo/fields';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FoundOrders, OrderFinder } from '../terms/field-finder.ts';
import type { Target } from '../terms/target.ts';
import { denyUnsent } from '../terms/upstream-denials.ts';
import { askServer, type RunQuestion, type ServerAnswer } from './ask-server.ts';
import { nameLogin } from './target-names.ts';

export interface KnownOrdersOptions {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

export interface OrderFinderDeps {
  knownOrders: KnownOrders;
}

/** Maximum number of models whose orders are kept, of all credentials. An order takes some 100 bytes. */
const KEPT_ORDERS_MAX = 100_000;
const KEPT_MS = 10 * 60 * 1000;
/** For an answer that cannot be read. */
const KEPT_FAILURE_MS = 30_000;
const NAMED = Buffer.from(MODEL_ORDERS_ARGUMENTS);
const NONE: ModelOrders = new Map();

/** Returns the finder that asks servers by `run`. */
export function createOrderFinder({ knownOrders }: OrderFinderDeps, run: RunQuestion): OrderFinder {
  return { find: (target, context) => knownOrders.find(target, context, run) };
}

export class KnownOrders {
  readonly #nowMs: () => number;
  readonly #entries: SingleFlightCache<FoundOrders>;

  constructor({ nowMs }: KnownOrdersOptions) {
    this.#nowMs = nowMs;
    this.#entries = new SingleFlightCache(KEPT_ORDERS_MAX, nowMs, weigh);
  }

  async find(target: Target, context: CallContext, run: RunQuestion): Promise<FoundOrders> {
    const ask = () => this.#ask(target, context, run);
    const found = await this.#entries.get(nameLogin(target), ask, context.time.signal);
    return found === ABORTED ? { failed: denyUnsent({ isReadOnly: true }) } : found;
  }

  async #ask(target: Target, context: CallContext, run: RunQuestion): Promise<Kept<FoundOrders>> {
    const question = { target, model: 'ir.model', method: 'search_read', keyword: NAMED };
    return checkAnswer(await askServer(question, context, run, this.#nowMs));
  }
}

function weigh(found: FoundOrders): number {
  return 'failed' in found ? 1 : Math.max(1, found.orders.size);
}

function checkAnswer(answer: ServerAnswer): Kept<FoundOrders> {
  if ('result' in answer)
    return { value: { orders: readModelOrders(answer.result) ?? NONE }, ttlMs: KEPT_MS };
  const { failed } = answer;
  if (failed instanceof Denial) {
    return failed.type === 'upstream_bad_response'
      ? { value: { orders: NONE }, ttlMs: KEPT_FAILURE_MS }
      : { value: answer, ttlMs: 0 };
  }
  // Another attempt would fail the same way, unless the fault is of the moment or of the credentials.
  const { retryable, type } = failed.fault.data;
  return retryable || type === 'access_denied'
    ? { value: answer, ttlMs: 0 }
    : { value: { orders: NONE }, ttlMs: KEPT_MS };
}
