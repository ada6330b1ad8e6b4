/**
 * Runs `fields_get` for several models as one batch of the caller: the pipeline receives the batch in place of the
 * request's body, so that key, policy, limits and egress apply as to any call. Collects the answers and makes one
 * answer of them.
 */

import { AnswerCollector, type AnswerHeaders, type AnswerWriter } from '@erp-proxy/async/streams';
import { ALL_ERRORS, BUSINESS_ERRORS, type ErrorBody, tryParse } from '@erp-proxy/contract';
import { buildErrorAnswer, describeDenial } from '@erp-proxy/gateway/request';
import { Denial, type Exchange, NULL_ID, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import { isObject } from '@erp-proxy/json';

export const MODELS_MAX = 20;
/** Small enough that parsing the answers at once does not keep other callers waiting for long. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const ATTRIBUTES = ['type', 'string', 'help', 'required', 'readonly', 'relation', 'selection'];

/** The fields of each model, as Odoo describes them. */
export type Descriptions = ReadonlyMap<string, Record<string, unknown>>;

export interface ModelsQuestion {
  instance: string;
  models: readonly string[];
}

/** Creates the exchange of a request that has a question in place of a body. `render` creates the answer. */
export function exchangeModels(
  inner: Exchange,
  question: ModelsQuestion | Denial,
  render: (descriptions: Descriptions) => object,
): Exchange {
  return {
    requestId: inner.requestId,
    address: inner.address,
    // Hides the header, because a read needs no idempotency key.
    header: (name) => (name === 'idempotency-key' ? undefined : inner.header(name)),
    countHeader: (name) => (name === 'idempotency-key' ? 0 : inner.countHeader(name)),
    onCallerLeft: (listener) => inner.onCallerLeft(listener),
    readBody: async () => (question instanceof Denial ? question : printCalls(question)),
    releaseBody: () => inner.releaseBody(),
    waitUntilLeft: () => inner.waitUntilLeft(),
    writer: new ModelsWriter(inner.writer, render),
  };
}

function printCalls({ instance, models }: ModelsQuestion): Uint8Array {
  const calls = models.map((model) => ({
    id: model,
    action: 'fields_get',
    model_id: model,
    params: [],
    keyword: { attributes: ATTRIBUTES },
    erp_instance: { name: instance },
  }));
  return Buffer.from(JSON.stringify(calls));
}

class ModelsWriter extends AnswerCollector {
  readonly #inner: AnswerWriter;
  readonly #render: (descriptions: Descriptions) => object;

  constructor(inner: AnswerWriter, render: (descriptions: Descriptions) => object) {
    super(ANSWER_BYTES_MAX);
    this.#inner = inner;
    this.#render = render;
  }

  override sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    if (status === 200) super.sendWhole(status, headers, body);
    else this.#inner.sendWhole(status, headers, body);
  }

  override end(): void {
    const { httpStatus, body } = this.#makeAnswer();
    this.#inner.sendWhole(httpStatus, this.headers, body);
  }

  #makeAnswer(): { httpStatus: number; body: Buffer } {
    if (this.isTooLarge) return deny(NULL_ID, TOO_LARGE);
    // A long answer of a server is not checked before it is passed on.
    const answers = tryParse(Buffer.from(this.join()).toString()) as ModelAnswer[] | undefined;
    if (answers === undefined) return deny(NULL_ID, NOT_FIELDS);
    const descriptions = new Map<string, Record<string, unknown>>();
    for (const { id, error, result } of answers) {
      const model = Buffer.from(JSON.stringify(id));
      if (error) return { httpStatus: findStatus(error), body: buildErrorAnswer(model, error) };
      if (!isObject(result)) return deny(model, NOT_FIELDS);
      descriptions.set(id, result);
    }
    return { httpStatus: 200, body: Buffer.from(JSON.stringify(this.#render(descriptions))) };
  }

  override restart(): boolean {
    return super.restart() && this.#inner.restart();
  }

  override breakOff(): void {
    this.#inner.breakOff();
  }
}

interface ModelAnswer {
  /** The name of the model. */
  id: string;
  result?: unknown;
  error?: ErrorBody;
}

function deny(id: Uint8Array, denial: Denial): { httpStatus: number; body: Buffer } {
  const { httpStatus, error } = describeDenial(denial, OWN_DIALECT);
  return { httpStatus, body: buildErrorAnswer(id, error) };
}

/** The HTTP status of an error. Unlike JSON-RPC, this route also has a status for Odoo's own errors. */
function findStatus({ data: { type } }: ErrorBody): number {
  if (Object.hasOwn(BUSINESS_ERRORS, type))
    return BUSINESS_ERRORS[type as keyof typeof BUSINESS_ERRORS].status;
  return ALL_ERRORS[type as keyof typeof ALL_ERRORS].httpStatus;
}

const TOO_LARGE = new Denial(
  'upstream_bad_response',
  `The models have more than ${ANSWER_BYTES_MAX / 2 ** 20} MiB of fields; name fewer of them.`,
  { path: 'models' },
);
const NOT_FIELDS = new Denial('upstream_bad_response', 'The answer does not describe fields.');
