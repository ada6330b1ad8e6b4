/**
 * Calls one method on the Odoo server of an instance, over a protocol that the server supports. Returns the answer as a
 * value, from which the credentials of the call are removed.
 */

import { type BusinessErrorType, cutText, tryParse } from '@erp-proxy/contract';
import { type EgressDispatcher, type EgressFailure, fetchWhole, type WholeAnswer } from '@erp-proxy/egress';
import { classifyFault, type Fault } from '@erp-proxy/odoo/faults';
import { buildJson2Request, classifyJson2Answer } from '@erp-proxy/odoo/json2';
import { buildExecuteKw } from '@erp-proxy/odoo/jsonrpc';
import { isRouteMissing } from '@erp-proxy/odoo/servers';
import { trustOf } from '../instances/trust.ts';
import type { KeyedRecord } from '../instances/views.ts';

/** A call of a model's method, without records. */
export interface Question {
  model: string;
  method: string;
  /** The named arguments. `key` is a secret. */
  keyword: Record<string, unknown>;
  /** Further secrets that the server may know, and that must not appear in the answer. */
  secrets?: readonly string[];
}

export type OdooAnswer =
  | { kind: 'result'; value: unknown }
  /** Odoo refused, and changed nothing. */
  | { kind: 'refused'; type: BusinessErrorType; message: string }
  /** Odoo did not answer. It may have run the method. */
  | { kind: 'unanswered'; message: string };

/** Calls Odoo as the user of the instance, with `apiKey` instead of the stored key. */
export type AskOdoo = (instance: KeyedRecord, apiKey: string, question: Question) => Promise<OdooAnswer>;

export interface AskOdooOptions {
  egress: EgressDispatcher;
  /** Time limit of a call for an instance that has no own limit. */
  timeoutMs: number;
}

/** Maximum size of an answer. All expected answers are far shorter. */
const ANSWER_BYTES_MAX = 1024 * 1024;
/** Maximum length of a message of a server, which is logged and stored with the instance. */
const TEXT_LENGTH_MAX = 300;

export function createAskOdoo({ egress, timeoutMs }: AskOdooOptions): AskOdoo {
  function post(
    instance: KeyedRecord,
    request: { path: string; headers: Record<string, string>; body: Uint8Array },
  ): Promise<WholeAnswer | EgressFailure> {
    const { url, certificates, allowPrivate } = instance;
    const { origin } = new URL(url);
    return fetchWhole(
      egress,
      { method: 'POST', origin, ...request, trust: trustOf({ certificates, allowPrivate }) },
      { signal: AbortSignal.timeout(instance.timeoutMs ?? timeoutMs), bytesMax: ANSWER_BYTES_MAX },
    );
  }

  const askJsonrpc: Ask = async (instance, apiKey, { keyword, ...method }, secrets) => {
    const { db, userId } = instance;
    const [params, named] = [Buffer.from('[]'), Buffer.from(JSON.stringify(keyword))];
    const answer = await post(instance, {
      path: `${readPathPrefix(instance)}/jsonrpc`,
      headers: { 'content-type': 'application/json', 'x-odoo-database': db },
      body: buildExecuteKw({ db, userId, apiKey, ...method, params, keyword: named }),
    });
    return answer.ok ? readJsonrpcAnswer(answer, secrets) : fail(answer.detail);
  };

  const askJson2: Ask = async (instance, apiKey, { keyword, ...method }, secrets) => {
    const pathPrefix = readPathPrefix(instance);
    const request = buildJson2Request({ pathPrefix, db: instance.db, apiKey, ...method });
    if ('unmappable' in request) return fail(request.unmappable);
    const answer = await post(instance, { ...request, body: Buffer.from(JSON.stringify(keyword)) });
    return answer.ok ? readJson2Answer(answer, secrets) : fail(answer.detail);
  };

  return async (instance, apiKey, { secrets: others = [], ...question }) => {
    const { key } = question.keyword;
    const secrets = [apiKey, ...(typeof key === 'string' ? [key] : []), ...others];
    if (instance.protocol === 'json2')
      return requireRoute(await askJson2(instance, apiKey, question, secrets));
    // /jsonrpc first: every version but the latest has it, and Odoo 16 takes a second to answer on a path that it lacks
    // (docs/odoo-facts.md#html-404-cost).
    const answer = await askJsonrpc(instance, apiKey, question, secrets);
    if (answer !== ROUTE_MISSING || instance.protocol === 'jsonrpc') return requireRoute(answer);
    return requireRoute(await askJson2(instance, apiKey, question, secrets));
  };
}

/** The server has no such route, so it ran nothing. */
const ROUTE_MISSING = Symbol('route missing');

type Ask = (
  instance: KeyedRecord,
  apiKey: string,
  question: Question,
  secrets: readonly string[],
) => Promise<OdooAnswer | typeof ROUTE_MISSING>;

function readPathPrefix({ url }: KeyedRecord): string {
  return new URL(url).pathname.replace(/\/+$/, '');
}

function readJsonrpcAnswer(
  answer: WholeAnswer,
  secrets: readonly string[],
): OdooAnswer | typeof ROUTE_MISSING {
  const { status, body } = answer;
  const envelope = status === 200 ? tryParse(body.toString()) : undefined;
  if (typeof envelope === 'object' && envelope !== null && 'jsonrpc' in envelope) {
    if ('error' in envelope) return toRefused(classifyFault(envelope.error, { debug: false, secrets }));
    return { kind: 'result', value: 'result' in envelope ? envelope.result : null };
  }
  return isRouteMissing(answer) ? ROUTE_MISSING : fail(`HTTP ${status} that is no answer of Odoo's`);
}

function readJson2Answer(answer: WholeAnswer, secrets: readonly string[]): OdooAnswer | typeof ROUTE_MISSING {
  const classified = classifyJson2Answer(answer, { debug: false, secrets });
  if (classified.kind === 'route_missing') return ROUTE_MISSING;
  if (classified.kind === 'status') return fail(`HTTP ${answer.status}`);
  if (classified.kind === 'bad') return fail(classified.reason);
  if (classified.kind !== 'result') return toRefused(classified.fault);
  const value = tryParse(answer.body.toString());
  return value === undefined ? fail('the answer is broken JSON') : { kind: 'result', value };
}

function requireRoute(answer: OdooAnswer | typeof ROUTE_MISSING): OdooAnswer {
  return answer === ROUTE_MISSING ? fail("the server answers none of Odoo's protocols") : answer;
}

function toRefused({ data: { type, message } }: Fault): OdooAnswer {
  return { kind: 'refused', type, message: shorten(message) };
}

function fail(message: string): OdooAnswer {
  return { kind: 'unanswered', message: shorten(message) };
}

/** Makes one line of the text, without control characters. */
function shorten(text: string): string {
  return cutText(text, TEXT_LENGTH_MAX)
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed();
}
