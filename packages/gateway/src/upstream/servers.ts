/**
 * What is known about Odoo servers: their protocols, the signatures on their doc pages, and whether a key belongs to
 * the user that a call names. It is fetched when first needed and shared by all calls. It is fetched again after some
 * time, and when a server contradicts it.
 */

import { ABORTED, atMost, type Kept, SingleFlightCache } from '@erp-proxy/async/tasks';
import {
  type EgressDispatcher,
  type EgressFailure,
  type EgressRequest,
  fetchWhole,
  type WholeAnswer,
} from '@erp-proxy/egress';
import { classifyFault, type Fault } from '@erp-proxy/odoo/faults';
import {
  buildDocPageRequest,
  buildJson2Request,
  buildUserRequest,
  classifyJson2Answer,
  readUserId,
} from '@erp-proxy/odoo/json2';
import { matchResultHead } from '@erp-proxy/odoo/jsonrpc';
import {
  findFirewall,
  findRedirect,
  hasJson2,
  isRouteMissing,
  locksNobodyOut,
  readJsonrpcVersion,
  readSerie,
  VERSION_BODY,
} from '@erp-proxy/odoo/servers';
import { type DocPage, readDocPage, type Signature } from '@erp-proxy/odoo/signatures';
import { LRUCache } from 'lru-cache';
import type { MethodCall } from '../terms/method-call.ts';
import type { Target } from '../terms/target.ts';
import type { Lockout } from './login-trials.ts';
import { nameDatabaseByTrust, nameServer, nameServerOfDatabase } from './target-names.ts';

/** The protocols of a server. */
export interface Protocols {
  jsonrpc: boolean;
  json2: boolean;
  /** The answer of a firewall, if that is why there is no protocol. */
  firewall?: Pick<WholeAnswer, 'status' | 'headers'>;
  /** The address to which the server redirects requests, if it has neither protocol (findRedirect). */
  redirect?: string;
}

/** The failure, or the unusable answer, of a request for facts. The call itself would have got the same. */
export interface Unanswered {
  failure: EgressFailure | WholeAnswer;
}

/**
 * An answer that does not name the user of the key, so that json2 must not be used with it. Only its status is kept,
 * and the headers of a firewall.
 */
export interface Unconfirmed {
  unconfirmed: Pick<WholeAnswer, 'status' | 'headers'>;
}

/** What administrators see of a server. Null: not known. */
export interface ServerFacts {
  version: string | null;
  /** The newest protocol. */
  protocol: 'jsonrpc' | 'json2' | null;
}

/** What a server can contradict. */
export type Contradiction = 'jsonrpc_missing' | 'json2_missing' | 'signature' | 'database';

export interface ServersOptions {
  egress: EgressDispatcher;
  nowMs: () => number;
  /** Time limit of one request for facts. */
  timeoutMs: number;
  /** Largest answer to a request for facts. */
  bytesMax: number;
}

/** A server is upgraded rarely, and then contradicts what is known. */
const PROTOCOLS_TTL_MS = 600_000;
/** Odoo may soon run at an address that another program answers, and a server with odd answers may be shutting down. */
const DOUBTFUL_TTL_MS = 5_000;
/** A doc page changes when a module is installed or upgraded. */
const DOC_PAGE_TTL_MS = 600_000;
const NO_DOC_PAGE_TTL_MS = 60_000;
/** A model is added and removed with its module. */
const MODEL_TTL_MS = 60_000;
/** A key never changes its user, but it can be removed. */
const USER_TTL_MS = 600_000;
/** How long calls that failed over json2 are sent over /jsonrpc. */
const JSON2_FAILURE_TTL_MS = 600_000;
/** A server that does not answer this short request has no free worker. The calls need not wait for it. */
const VERSION_TIMEOUT_MS = 1_000;
const ENTRIES_MAX = 1_000;
/** A version, a user or a fault is much shorter. A page of another program may be longer. */
const SHORT_ANSWER_BYTES_MAX = 1024 * 1024;
/** Maximum number of parameters on all doc pages together: some thousand real pages. It bounds the memory. */
const PARAMETERS_MAX = 1_000_000;

const NO_PAGE: DocPage = { refusal: 'no page' };
const CONFIRMED = 'confirmed';
const EXISTS = Object.freeze({ exists: true });
const NO_FACTS: ServerFacts = { version: null, protocol: null };
const JSONRPC_ONLY: Protocols = { jsonrpc: true, json2: false };
const NO_PROTOCOL: Protocols = { jsonrpc: false, json2: false };
const READ_ACCESS_BODY = Buffer.from('{"operation":"read"}');
/** Kinds of answers that Odoo itself gives over /jsonrpc. */
const ENVELOPES: ReadonlySet<string> = new Set(['result', 'error', 'empty']);

export class Servers {
  readonly #options: ServersOptions;
  readonly #protocols: SingleFlightCache<Protocols | Unanswered>;
  /** By server. Odoo 16 and later lock no addresses out. */
  readonly #lockouts = new LRUCache<string, 'none' | 'known'>(atMost(ENTRIES_MAX));
  /** By server, as of the last probe. */
  readonly #facts = new LRUCache<string, ServerFacts>(atMost(ENTRIES_MAX));
  readonly #docPages: SingleFlightCache<DocPage>;
  readonly #models: SingleFlightCache<{ fault: Fault } | Unanswered | typeof EXISTS>;
  readonly #users: SingleFlightCache<Fault | Unanswered | Unconfirmed | typeof CONFIRMED>;
  /** Methods, databases and servers whose calls failed over json2. They use /jsonrpc for a while. */
  readonly #failedOverJson2: SingleFlightCache<true>;
  /** Servers that have just answered a call over /jsonrpc as if they had no such route. */
  readonly #lackJsonrpc: SingleFlightCache<true>;

  constructor(options: ServersOptions) {
    this.#options = options;
    this.#protocols = new SingleFlightCache(ENTRIES_MAX, options.nowMs);
    this.#docPages = new SingleFlightCache(PARAMETERS_MAX, options.nowMs, weighPage);
    this.#models = new SingleFlightCache(ENTRIES_MAX, options.nowMs);
    this.#users = new SingleFlightCache(ENTRIES_MAX * 10, options.nowMs);
    this.#failedOverJson2 = new SingleFlightCache(ENTRIES_MAX, options.nowMs);
    this.#lackJsonrpc = new SingleFlightCache(ENTRIES_MAX, options.nowMs);
  }

  /**
   * Tells whether wrong keys lock this proxy's address out. Odoo 14 and 15 do so (docs/odoo-facts.md#login-cooldown). A
   * server about which nothing is known may be one of them.
   */
  findLockout(target: Target): Lockout {
    return this.#lockouts.get(nameServer(target)) ?? 'possible';
  }

  /**
   * Learns from an answer of `/jsonrpc` whether the server locks addresses out: 16 and later send the charset of their
   * JSON, 14 and 15 do not (docs/odoo-facts.md#charset-header).
   */
  learnLockout(target: Target, { status, headers }: Pick<WholeAnswer, 'status' | 'headers'>): void {
    if (status !== 200) return;
    const isRecent = /^application\/json\s*;\s*charset=/i.test(String(headers['content-type'] ?? ''));
    this.#recordLockout(target, isRecent);
  }

  #recordLockout(target: Target, isRecent: boolean): void {
    this.#lockouts.set(nameServer(target), isRecent ? 'none' : 'known');
  }

  /** What is known about the server of a database, which nameDatabaseByTrust names. Asks nobody. */
  describe(database: string): ServerFacts {
    return this.#facts.peek(nameServerOfDatabase(database)) ?? NO_FACTS;
  }

  /** Finds the protocols of the server, with one probe per server at a time. */
  findProtocols(target: Target, signal: AbortSignal) {
    return this.#protocols.get(nameServer(target), () => this.#probe(target), signal);
  }

  #recordFacts(target: Target, facts: ServerFacts): void {
    this.#facts.set(nameServerOfDatabase(nameDatabaseByTrust(target)), facts);
  }

  /** Finds the signature on the model's doc page; undefined if the page has none that can be used. */
  async findSignature(
    target: Target,
    model: string,
    method: string,
    signal: AbortSignal,
  ): Promise<Signature | undefined | typeof ABORTED> {
    const fetch = () => this.#fetchDocPage(target, model);
    const page = await this.#docPages.get(nameModel(target, model), fetch, signal);
    if (page === ABORTED) return ABORTED;
    return 'signatures' in page ? page.signatures.get(method) : undefined;
  }

  /** Records a contradiction: forgets the fact, or stops using json2 for such calls for a while. */
  recordContradiction(about: Contradiction, target: Target, { model, method }: MethodCall): void {
    const failed = { value: true, ttlMs: JSON2_FAILURE_TTL_MS } as const;
    if (about === 'jsonrpc_missing') {
      this.#protocols.forget(nameServer(target));
      this.#lackJsonrpc.set(nameServer(target), { value: true, ttlMs: DOUBTFUL_TTL_MS });
    } else if (about === 'json2_missing') {
      // A reverse proxy may block the route, whatever the version.
      this.#protocols.forget(nameServer(target));
      this.#failedOverJson2.set(nameServer(target), failed);
    } else if (about === 'database') {
      this.#failedOverJson2.set(nameDatabaseByTrust(target), failed);
    } else {
      this.#docPages.forget(nameModel(target, model));
      this.#failedOverJson2.set(nameMethod(target, model, method), failed);
    }
  }

  /** True if such a call failed over json2 recently, although the server supports json2. */
  hasFailedOverJson2(target: Target, model: string, method: string): boolean {
    const names = [nameServer(target), nameDatabaseByTrust(target), nameMethod(target, model, method)];
    return names.some((name) => this.#failedOverJson2.has(name));
  }

  /**
   * Checks that the key belongs to the user that the call names, because over json2 the key alone determines the user
   * (docs/odoo-facts.md#json2-user).
   */
  confirmUser(target: Target, signal: AbortSignal) {
    return this.#users.get(target.credentialsId, () => this.#askUser(target), signal);
  }

  /** Finds, over json2, the fault for a model that the database does not have. The credentials must be confirmed. */
  findMissingModel(target: Target, model: string, signal: AbortSignal) {
    return this.#models.get(nameModel(target, model), () => this.#askModel(target, model), signal);
  }

  async #probe(target: Target): Promise<Kept<Protocols | Unanswered>> {
    const question = {
      method: 'POST',
      path: `${target.pathPrefix}/jsonrpc`,
      headers: { 'content-type': 'application/json', 'x-odoo-database': target.db },
      body: VERSION_BODY,
    } as const;
    // A call has already failed over /jsonrpc, so calls wait for what is asked here.
    const isAwaited = this.#lackJsonrpc.has(nameServer(target));
    const answer = await this.#fetch(target, question, isAwaited ? {} : { timeoutMs: VERSION_TIMEOUT_MS });
    // No version in time, or an answer that cannot be read or is too large: the call itself gets the error.
    if (!answer.ok && !isAwaited && (answer.reason === 'bad_response' || answer.reason === 'aborted'))
      return { value: JSONRPC_ONLY, ttlMs: DOUBTFUL_TTL_MS };
    if (!answer.ok) return { value: { failure: answer }, ttlMs: 0 };
    if (answer.status === 200 && ENVELOPES.has(matchResultHead(answer.body).kind)) {
      const version = readJsonrpcVersion(answer.body);
      this.#recordLockout(target, version !== null && locksNobodyOut(version));
      const json2 = version !== null && hasJson2(version);
      this.#recordFacts(target, {
        version: version === null ? null : readSerie(version),
        protocol: json2 ? 'json2' : 'jsonrpc',
      });
      return { value: { jsonrpc: true, json2 }, ttlMs: PROTOCOLS_TTL_MS };
    }
    if (classifyWhole(answer).kind === 'status') return { value: { failure: answer }, ttlMs: 0 };
    // /jsonrpc was removed (22 and later) or is blocked, or another program answers. Only an answer of json2 tells.
    return this.#probeJson2(target, answer);
  }

  /** `jsonrpcAnswer`: what the server answered over /jsonrpc. */
  async #probeJson2(target: Target, jsonrpcAnswer: WholeAnswer): Promise<Kept<Protocols | Unanswered>> {
    const isRouteGone = isRouteMissing(jsonrpcAnswer);
    // The result holds for all callers, so it must not depend on this caller's key and database.
    const answer =
      (await this.#askContext(target)) ?? (await this.#askContext({ ...target, db: 'none', apiKey: 'none' }));
    if (answer === null || !answer.ok) return { value: { failure: answer ?? jsonrpcAnswer }, ttlMs: 0 };
    const { kind } = classifyWhole(answer);
    if (kind === 'result' || kind === 'fault' || kind === 'database_hidden') {
      this.#recordLockout(target, true);
      this.#recordFacts(target, { version: null, protocol: 'json2' });
      return {
        value: { jsonrpc: false, json2: true },
        ttlMs: isRouteGone ? PROTOCOLS_TTL_MS : DOUBTFUL_TTL_MS,
      };
    }
    if (kind === 'status') return { value: { failure: answer }, ttlMs: 0 };
    const redirect = findRedirect(jsonrpcAnswer);
    return isRouteGone
      ? {
          value: { ...NO_PROTOCOL, ...keepFirewall(jsonrpcAnswer), ...(redirect !== null && { redirect }) },
          ttlMs: DOUBTFUL_TTL_MS,
        }
      : { value: { failure: jsonrpcAnswer }, ttlMs: 0 };
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
    // Odoo has no key that cannot be sent in a header.
    if (answer === null) return { value: denyUser(), ttlMs: 0 };
    if (!answer.ok) return { value: { failure: answer }, ttlMs: 0 };
    const classified = classifyWhole(answer, [target.apiKey]);
    if (classified.kind === 'fault' || classified.kind === 'database_hidden')
      return { value: classified.fault, ttlMs: 0 };
    if (classified.kind === 'status') return { value: { failure: answer }, ttlMs: 0 };
    const uid = classified.kind === 'result' ? readUserId(answer.body) : null;
    if (uid === null)
      return {
        value: {
          unconfirmed: {
            status: answer.status,
            headers: findFirewall(answer) === null ? {} : answer.headers,
          },
        },
        ttlMs: DOUBTFUL_TTL_MS,
      };
    if (uid === target.userId) return { value: CONFIRMED, ttlMs: USER_TTL_MS };
    return { value: denyUser(), ttlMs: 0 };
  }

  /** Calls `has_access`, which every model has. Without ids it checks the model alone. */
  async #askModel(
    target: Target,
    model: string,
  ): Promise<Kept<{ fault: Fault } | Unanswered | typeof EXISTS>> {
    const request = buildJson2Request({ ...target, model, method: 'has_access' });
    if ('unmappable' in request) return { value: { fault: denyModel(model) }, ttlMs: 0 };
    const answer = await this.#fetch(target, { method: 'POST', ...request, body: READ_ACCESS_BODY });
    if (!answer.ok) return { value: { failure: answer }, ttlMs: 0 };
    const classified = classifyWhole(answer, [target.apiKey]);
    const isMissing = classified.kind === 'fault' && classified.fault.data.type === 'model_not_found';
    if (isMissing) return { value: { fault: classified.fault }, ttlMs: DOUBTFUL_TTL_MS };
    // Any other answer is about something else, and the call itself will get it.
    return { value: EXISTS, ttlMs: classified.kind === 'result' ? MODEL_TTL_MS : 0 };
  }

  #askContext(target: Target): Promise<WholeAnswer | EgressFailure> | null {
    const request = buildUserRequest(target);
    return 'unmappable' in request ? null : this.#fetch(target, request);
  }

  /**
   * Sends a request for facts. Like a caller's read, it is sent once more if the connection ended before any answer.
   */
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

/** Builds a fault like that of `/jsonrpc`. */
function buildFault(name: string, message: string): Fault {
  return classifyFault({ name, message, arguments: [message], context: {} }, { debug: false, secrets: [] });
}

/** A model, as these credentials see it. */
function nameModel({ credentialsId }: Target, model: string): string {
  return `${credentialsId} ${model}`;
}

function nameMethod(target: Target, model: string, method: string): string {
  return `${nameDatabaseByTrust(target)} ${model} ${method}`;
}

/** `secrets` are removed from a fault, because it goes to the caller. */
function classifyWhole(answer: WholeAnswer, secrets: readonly string[] = []) {
  return classifyJson2Answer(answer, { debug: false, secrets });
}

/** What denyStatus reads of an answer, if it names a firewall: any other says only that the route is missing. */
function keepFirewall({ status, headers }: WholeAnswer): Pick<Protocols, 'firewall'> {
  return findFirewall({ status, headers })?.product ? { firewall: { status, headers } } : {};
}
