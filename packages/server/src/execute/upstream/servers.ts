/**
 * What is known of the Odoo servers: which protocols one speaks, the signatures on its doc pages, and whether a key is the
 * user's that a call names. Asked for when first needed, shared by all calls, renewed by time and when a server
 * contradicts it.
 */
import { LRUCache } from 'lru-cache';
import type { EgressDispatcher, EgressFailure, EgressRequest } from '../../egress/dispatcher.ts';
import { fetchWhole, type WholeAnswer } from '../../egress/fetch-whole.ts';
import { classifyFault, type Fault } from '../../odoo/faults/faults.ts';
import { classifyJson2Answer } from '../../odoo/json2/json2-answer.ts';
import { buildDocPageRequest, buildJson2Request } from '../../odoo/json2/json2-request.ts';
import { matchResultHead } from '../../odoo/jsonrpc.ts';
import { type DocPage, readDocPage } from '../../odoo/signatures/doc-page.ts';
import type { Signature } from '../../odoo/signatures/signature.ts';
import {
  JSON2_SINCE,
  LOCKS_NOBODY_OUT_SINCE,
  readJsonrpcVersion,
  readMajor,
  VERSION_BODY,
} from '../../odoo/version.ts';
import { type Kept, SingleFlightCache } from '../../streams/single-flight-cache.ts';
import { ABORTED } from '../../streams/wait.ts';
import type { MethodCall } from '../terms/method-call.ts';
import type { Target } from '../terms/target.ts';
import type { Lockout } from './login-trials.ts';
import { nameDatabaseByTrust, nameServer } from './target-names.ts';
import { isRouteMissing } from './upstream-status.ts';

/** What a server speaks. */
export interface Protocols {
  jsonrpc: boolean;
  json2: boolean;
}

/** Why a question got no answer that helps: what the call itself would have met, had it been sent. */
export interface Unanswered {
  met: EgressFailure | WholeAnswer;
}

/** An answer that does not tell whose key it is: json2 must not be used with it. It is kept, so only its status is. */
export interface Unconfirmed {
  unconfirmed: Pick<WholeAnswer, 'status' | 'headers'>;
}

/** What a server can do otherwise than it was thought to. */
export type Contradiction = 'jsonrpc_missing' | 'json2_missing' | 'signature' | 'database';

export interface ServersOptions {
  egress: EgressDispatcher;
  nowMs: () => number;
  /** Time for one question. */
  timeoutMs: number;
  /** Largest answer to a question. */
  bytesMax: number;
}

/** A server is upgraded rarely, and then it contradicts what we know. */
const PROTOCOLS_TTL_MS = 600_000;
/** An address where no Odoo answers may have one soon, and what answers oddly may be about to stop. */
const DOUBTFUL_TTL_MS = 5_000;
/** A doc page changes when a module is installed or upgraded. */
const DOC_PAGE_TTL_MS = 600_000;
const NO_DOC_PAGE_TTL_MS = 60_000;
/** A model comes and goes with its module. */
const MODEL_TTL_MS = 60_000;
/** A key never changes its user, but it can be removed. */
const USER_TTL_MS = 600_000;
/** How long what went wrong over json2 is left to /jsonrpc. */
const MISTAKEN_TTL_MS = 600_000;
/** A server that does not answer this short question has no free worker: no reason to hold up the calls, which wait in turn. */
const VERSION_TIMEOUT_MS = 1_000;
const ENTRIES_MAX = 1_000;
/** A version, a user or a fault is far shorter; a page of another program need not be. */
const SHORT_ANSWER_BYTES_MAX = 1024 * 1024;
/** Parameters on all doc pages together: some thousand real pages, and bounded memory whatever a page is. */
const PARAMETERS_MAX = 1_000_000;

const NO_PAGE: DocPage = { refusal: 'no page' };
const CONFIRMED = 'confirmed';
const THERE = Object.freeze({ isThere: true });
const JSONRPC_ONLY: Protocols = { jsonrpc: true, json2: false };
const NO_PROTOCOL: Protocols = { jsonrpc: false, json2: false };
const EMPTY_BODY = Buffer.from('{}');
const READ_ACCESS_BODY = Buffer.from('{"operation":"read"}');
/** The heads of Odoo's own answers over /jsonrpc. */
const ENVELOPES: ReadonlySet<string> = new Set(['result', 'error', 'empty']);

export class Servers {
  readonly #options: ServersOptions;
  readonly #protocols: SingleFlightCache<Protocols | Unanswered>;
  /** By server: 16 and later lock nobody out. */
  readonly #lockouts = new LRUCache<string, 'none' | 'known'>({ max: ENTRIES_MAX });
  readonly #docPages: SingleFlightCache<DocPage>;
  readonly #models: SingleFlightCache<{ fault: Fault } | Unanswered | typeof THERE>;
  readonly #users: SingleFlightCache<Fault | Unanswered | Unconfirmed | typeof CONFIRMED>;
  /** Calls that a server has taken otherwise than we thought; they go over /jsonrpc for a while. */
  readonly #mistaken: SingleFlightCache<true>;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#protocols = new SingleFlightCache(ENTRIES_MAX, options.nowMs);
    this.#docPages = new SingleFlightCache(PARAMETERS_MAX, options.nowMs, weighPage);
    this.#models = new SingleFlightCache(ENTRIES_MAX, options.nowMs);
    this.#users = new SingleFlightCache(ENTRIES_MAX * 10, options.nowMs);
    this.#mistaken = new SingleFlightCache(ENTRIES_MAX, options.nowMs);
  }

  /**
   * Whether wrong keys lock this proxy's address out there: Odoo 14 and 15 do so (docs/odoo-facts.md#login-cooldown),
   * and a server of which nothing is known may be one.
   */
  findLockout(target: Target): Lockout {
    return this.#lockouts.get(nameServer(target)) ?? 'possible';
  }

  /**
   * Learns from an answer of `/jsonrpc`: 16 and later tell the charset of their JSON, 14 and 15 do not
   * (docs/odoo-facts.md#charset-header).
   */
  hear(target: Target, { status, headers }: Pick<WholeAnswer, 'status' | 'headers'>): void {
    if (status !== 200) return;
    const isRecent = /^application\/json\s*;\s*charset=/i.test(String(headers['content-type'] ?? ''));
    this.#noteAge(target, isRecent);
  }

  #noteAge(target: Target, isRecent: boolean): void {
    this.#lockouts.set(nameServer(target), isRecent ? 'none' : 'known');
  }

  /** What the server speaks; one probe per server at a time. */
  findProtocols(target: Target, signal: AbortSignal) {
    return this.#protocols.get(nameServer(target), () => this.#probe(target), signal);
  }

  /** The signature on the model's doc page; undefined where there is none for us. */
  async findSignature(
    target: Target,
    model: string,
    method: string,
    signal: AbortSignal,
  ): Promise<Signature | undefined | typeof ABORTED> {
    const key = `${target.credentialsId} ${model}`;
    const page = await this.#docPages.get(key, () => this.#fetchDocPage(target, model), signal);
    if (page === ABORTED) return ABORTED;
    return 'signatures' in page ? page.signatures.get(method) : undefined;
  }

  /** The server has contradicted what was known of it: what was wrong is asked again, or left alone for a while. */
  learn(about: Contradiction, target: Target, { model, method }: MethodCall): void {
    const mistaken = { value: true, ttlMs: MISTAKEN_TTL_MS } as const;
    if (about === 'jsonrpc_missing') {
      this.#protocols.forget(nameServer(target));
    } else if (about === 'json2_missing') {
      // Its version does not tell: what stands in front of it may keep the route from us.
      this.#protocols.forget(nameServer(target));
      this.#mistaken.set(nameServer(target), mistaken);
    } else if (about === 'database') {
      this.#mistaken.set(nameDatabaseByTrust(target), mistaken);
    } else {
      this.#docPages.forget(`${target.credentialsId} ${model}`);
      this.#mistaken.set(nameMethod(target, model, method), mistaken);
    }
  }

  /** Whether a call like this has gone wrong over json2 lately, though the server speaks it. */
  isDistrusted(target: Target, model: string, method: string): boolean {
    const names = [nameServer(target), nameDatabaseByTrust(target), nameMethod(target, model, method)];
    return names.some((name) => this.#mistaken.has(name));
  }

  /**
   * Whether the key is that of the user whom the call names: over json2 the key alone decides
   * (docs/odoo-facts.md#json2-user).
   */
  confirmUser(target: Target, signal: AbortSignal) {
    return this.#users.get(target.credentialsId, () => this.#askUser(target), signal);
  }

  /** Over json2: the fault where the database has no such model; for credentials that are confirmed. */
  findMissingModel(target: Target, model: string, signal: AbortSignal) {
    const key = `${target.credentialsId} ${model}`;
    return this.#models.get(key, () => this.#askModel(target, model), signal);
  }

  async #probe(target: Target): Promise<Kept<Protocols | Unanswered>> {
    const question = {
      method: 'POST',
      path: `${target.pathPrefix}/jsonrpc`,
      headers: { 'content-type': 'application/json', 'x-odoo-database': target.db },
      body: VERSION_BODY,
    } as const;
    const answer = await this.#fetch(target, question, { timeoutMs: VERSION_TIMEOUT_MS });
    // No version in time, or too odd or too large to be read: the call itself meets whatever answers there.
    if (!answer.ok && (answer.reason === 'bad_response' || answer.reason === 'aborted'))
      return { value: JSONRPC_ONLY, ttlMs: DOUBTFUL_TTL_MS };
    if (!answer.ok) return { value: { met: answer }, ttlMs: 0 };
    if (answer.status === 200 && ENVELOPES.has(matchResultHead(answer.body).kind)) {
      const version = readJsonrpcVersion(answer.body);
      const major = version === null ? null : readMajor(version);
      this.#noteAge(target, major !== null && major >= LOCKS_NOBODY_OUT_SINCE);
      return {
        value: { jsonrpc: true, json2: major !== null && major >= JSON2_SINCE },
        ttlMs: PROTOCOLS_TTL_MS,
      };
    }
    if (classifyWhole(answer).kind === 'status') return { value: { met: answer }, ttlMs: 0 };
    // Gone (22 and later), kept from us, or another program: only an answer of json2's own tells.
    return this.#probeJson2(target, answer);
  }

  /** `instead`: what the server answered over /jsonrpc. */
  async #probeJson2(target: Target, instead: WholeAnswer): Promise<Kept<Protocols | Unanswered>> {
    const isGone = isRouteMissing(instead.status);
    // What this caller's key and database are must not tell for others: any answer of json2's does.
    const answer =
      (await this.#askContext(target)) ?? (await this.#askContext({ ...target, db: 'none', apiKey: 'none' }));
    if (answer === null || !answer.ok) return { value: { met: answer ?? instead }, ttlMs: 0 };
    const { kind } = classifyWhole(answer);
    if (kind === 'result' || kind === 'fault' || kind === 'database_hidden') {
      this.#noteAge(target, true);
      return {
        value: { jsonrpc: false, json2: true },
        ttlMs: isGone ? PROTOCOLS_TTL_MS : DOUBTFUL_TTL_MS,
      };
    }
    if (kind === 'status') return { value: { met: answer }, ttlMs: 0 };
    return isGone ? { value: NO_PROTOCOL, ttlMs: DOUBTFUL_TTL_MS } : { value: { met: instead }, ttlMs: 0 };
  }

  async #fetchDocPage(target: Target, model: string): Promise<Kept<DocPage>> {
    const request = buildDocPageRequest({ ...target, model });
    if ('unmappable' in request) return { value: NO_PAGE, ttlMs: NO_DOC_PAGE_TTL_MS };
    const answer = await this.#fetch(
      target,
      { method: 'GET', ...request, body: null },
      { bytesMax: this.#options.bytesMax },
    );
    if (!answer.ok)
      return { value: NO_PAGE, ttlMs: answer.reason === 'bad_response' ? NO_DOC_PAGE_TTL_MS : 0 };
    if (answer.status !== 200) return { value: NO_PAGE, ttlMs: answer.status < 500 ? NO_DOC_PAGE_TTL_MS : 0 };
    const page = readDocPage(answer.body, model);
    return { value: page, ttlMs: 'signatures' in page ? DOC_PAGE_TTL_MS : NO_DOC_PAGE_TTL_MS };
  }

  async #askUser(target: Target): Promise<Kept<Fault | Unanswered | Unconfirmed | typeof CONFIRMED>> {
    const answer = await this.#askContext(target);
    // A key that no header can hold is none of Odoo's.
    if (answer === null) return { value: denyUser(), ttlMs: 0 };
    if (!answer.ok) return { value: { met: answer }, ttlMs: 0 };
    const verdict = classifyWhole(answer, [target.apiKey]);
    if (verdict.kind === 'fault' || verdict.kind === 'database_hidden')
      return { value: verdict.fault, ttlMs: 0 };
    if (verdict.kind === 'status') return { value: { met: answer }, ttlMs: 0 };
    const uid = verdict.kind === 'result' ? readUid(answer.body) : null;
    if (uid === null)
      return { value: { unconfirmed: { status: answer.status, headers: {} } }, ttlMs: DOUBTFUL_TTL_MS };
    if (uid === target.userId) return { value: CONFIRMED, ttlMs: USER_TTL_MS };
    return { value: denyUser(), ttlMs: 0 };
  }

  /** `has_access` is a method of every model, and without ids asks about the model alone. */
  async #askModel(
    target: Target,
    model: string,
  ): Promise<Kept<{ fault: Fault } | Unanswered | typeof THERE>> {
    const request = buildJson2Request({ ...target, model, method: 'has_access' });
    if ('unmappable' in request) return { value: { fault: denyModel(model) }, ttlMs: 0 };
    const answer = await this.#fetch(target, { method: 'POST', ...request, body: READ_ACCESS_BODY });
    if (!answer.ok) return { value: { met: answer }, ttlMs: 0 };
    const verdict = classifyWhole(answer, [target.apiKey]);
    const isMissing = verdict.kind === 'fault' && verdict.fault.data.type === 'model_not_found';
    if (isMissing) return { value: { fault: verdict.fault }, ttlMs: DOUBTFUL_TTL_MS };
    // Any other answer is about something else: the call itself meets it.
    return { value: THERE, ttlMs: verdict.kind === 'result' ? MODEL_TTL_MS : 0 };
  }

  /** `res.users/context_get`: the one method that tells a key's user and does nothing else. */
  #askContext(target: Target): Promise<WholeAnswer | EgressFailure> | null {
    const request = buildJson2Request({ ...target, model: 'res.users', method: 'context_get' });
    if ('unmappable' in request) return null;
    return this.#fetch(target, { method: 'POST', ...request, body: EMPTY_BODY });
  }

  /** Questions only read: as a read of a caller's, one is asked once more where the connection died before any answer. */
  async #fetch(
    target: Target,
    asked: Omit<EgressRequest, 'origin' | 'trust'>,
    limits: { bytesMax?: number; timeoutMs?: number } = {},
  ): Promise<WholeAnswer | EgressFailure> {
    const { egress, ...own } = this.#options;
    const options = {
      signal: AbortSignal.timeout(Math.min(limits.timeoutMs ?? Infinity, own.timeoutMs)),
      bytesMax: limits.bytesMax ?? Math.min(own.bytesMax, SHORT_ANSWER_BYTES_MAX),
    };
    const request = { ...asked, origin: target.origin, trust: target.trust };
    const first = await fetchWhole(egress, request, options);
    if (first.ok || (first.reason !== 'reset' && first.reason !== 'refused')) return first;
    return fetchWhole(egress, request, options);
  }
}

function weighPage(page: DocPage): number {
  let weight = 1;
  if ('signatures' in page)
    for (const { parameters } of page.signatures.values()) weight += 1 + parameters.length;
  return weight;
}

function denyUser(): Fault {
  return buildFault('odoo.exceptions.AccessDenied', 'Access Denied');
}

function denyModel(model: string): Fault {
  return buildFault('odoo.exceptions.UserError', `Object ${model} doesn't exist`);
}

/** As `/jsonrpc` says it. */
function buildFault(name: string, message: string): Fault {
  return classifyFault({ name, message, arguments: [message], context: {} }, { debug: false, secrets: [] });
}

function nameMethod(target: Target, model: string, method: string): string {
  return `${nameDatabaseByTrust(target)} ${model} ${method}`;
}

/** `secrets` must not be in a fault that goes to the caller. */
function classifyWhole({ status, headers, body }: WholeAnswer, secrets: readonly string[] = []) {
  const text = (name: string) => String(headers[name] ?? '');
  const answer = { status, contentType: text('content-type'), location: text('location'), body };
  return classifyJson2Answer(answer, { debug: false, secrets });
}

function readUid(body: Buffer): number | null {
  try {
    const { uid } = JSON.parse(body.toString()) as { uid?: unknown };
    return typeof uid === 'number' ? uid : null;
  } catch {
    return null;
  }
}
