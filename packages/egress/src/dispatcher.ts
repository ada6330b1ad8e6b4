/**
 * The only path for outgoing bytes: checks the target of a request and sends the request on a connection to a checked
 * address. HTTP/1.1 only. Does not follow redirects, and opens no connection in advance
 * (docs/odoo-facts.md#idle-connections).
 */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { ByteStreamError, readStream } from '@erp-proxy/async/streams';
import { atMost } from '@erp-proxy/async/tasks';
import {
  buildRequest,
  Connection,
  type ConnectionOwner,
  Dialer,
  type Guard,
  type SendOptions,
} from '@erp-proxy/wire/client';
import { LRUCache } from 'lru-cache';
import type { EgressAnswer, EgressDenial, EgressFailure, EgressRequest, EgressTrust } from './messages.ts';
import { cacheNames, type LookUpName, type ResolveName, resolveBySystem } from './names.ts';
import { checkAddress, checkOrigin, type EgressPolicy, type EgressTarget } from './policy.ts';

export interface EgressDispatcher {
  /** Checks what needs no DNS: scheme, port and a literal address. Null: nothing is denied so far. */
  check(origin: string, trust?: EgressTrust | null): EgressDenial | null;
  /** Rejects only if the request is malformed, such as a line break in a header. */
  send(request: EgressRequest, options: SendOptions): Promise<EgressAnswer | EgressFailure>;
  /** Aborts running calls and closes every connection. */
  close(): Promise<void>;
}

export interface EgressOptions {
  allow: EgressPolicy;
  /** Time limit for DNS, TCP and TLS together. */
  connectTimeoutMs: number;
  /**
   * Time limit from the last byte of the request to the head of the answer; null: only the signal of the call applies.
   */
  firstByteTimeoutMs: number | null;
  resolve?: ResolveName;
  /** PEM certificates that replace those of Node and of the system. */
  certificates?: readonly string[];
  /** Monotonic clock in milliseconds. */
  nowMs?: () => number;
}

/** Maximum number of pairs of origin and trust that have a pool. Callers can name any number of origins. */
const ORIGINS_MAX = 1_000;
const IDLE_CONNECTIONS_MAX = 256;

export function createEgressDispatcher(options: EgressOptions): EgressDispatcher {
  const { allow: policy, firstByteTimeoutMs, connectTimeoutMs } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const dialer = new Dialer({ connectTimeoutMs, firstByteTimeoutMs, nowMs });
  const lookUp = cacheNames(options.resolve ?? resolveBySystem, nowMs);
  const secureContext = createLazyContext(options.certificates);
  const pools = new LRUCache<string, Pool>({ ...atMost(ORIGINS_MAX), dispose: (pool) => pool.retire() });
  let isClosed = false;

  /** The policy of a dispatcher never changes, so that the origin of an existing pool is allowed. */
  function findPool(origin: string, trust: EgressTrust | null): Pool | EgressDenial {
    const name = namePool(origin, trust);
    const known = pools.get(name);
    if (known !== undefined) return known;
    const target = checkOrigin(policy, origin, trust?.isAllowed);
    if ('rule' in target) return target;
    const certificates = trust?.certificates ?? null;
    const pool = new Pool(new URL(origin).host, {
      dialer,
      guard: createGuard(policy, target, lookUp),
      target,
      secureContext: certificates === null ? secureContext : createLazyContext([certificates]),
    });
    pools.set(name, pool);
    return pool;
  }

  return {
    check(origin, trust = null) {
      if (pools.has(namePool(origin, trust))) return null;
      const target = checkOrigin(policy, origin, trust?.isAllowed);
      return 'rule' in target ? target : null;
    },

    send(request, options) {
      const pool = findPool(request.origin, request.trust ?? null);
      if ('rule' in pool) return Promise.resolve(refuse('denied', pool.detail));
      if (options.signal.aborted)
        return Promise.resolve(refuse('aborted', 'the caller aborted before sending'));
      if (isClosed) return Promise.resolve(refuse('aborted', 'the proxy is shutting down'));
      let bytes: Uint8Array[];
      try {
        bytes = buildRequest(request, pool.host);
      } catch (error) {
        return Promise.reject(error);
      }
      return pool.take().send(bytes, options);
    },

    async close() {
      isClosed = true;
      pools.clear();
      dialer.close();
    },
  };
}

function refuse(reason: 'denied' | 'aborted', detail: string): EgressFailure {
  return { ok: false, reason, sent: false, detail };
}

/** Origins contain no space, so that names of different pairs differ. */
function namePool(origin: string, trust: EgressTrust | null): string {
  return trust === null ? origin : `${origin} ${trust.id}`;
}

/** The idle connections of one origin and trust. The last used is taken first, so that the others can time out. */
class Pool implements ConnectionOwner {
  /** As in the host header: with the port if it is not the default of the scheme. */
  readonly host: string;
  readonly dialer: Dialer;
  readonly guard: Guard;
  readonly target: EgressTarget;
  readonly secureContext: () => SecureContext;
  session: Buffer | null = null;
  #idle: Connection[] = [];
  #isRetired = false;

  constructor(
    host: string,
    { dialer, guard, target, secureContext }: Pick<Pool, 'dialer' | 'guard' | 'target' | 'secureContext'>,
  ) {
    this.host = host;
    this.dialer = dialer;
    this.guard = guard;
    this.target = target;
    this.secureContext = secureContext;
  }

  take(): Connection {
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.isUsable) return kept;
      kept.drop();
    }
    return new Connection(this);
  }

  retire(): void {
    this.#isRetired = true;
    for (const connection of this.#idle.slice()) connection.drop();
  }

  onFree(connection: Connection): void {
    if (this.#isRetired || this.#idle.length >= IDLE_CONNECTIONS_MAX) connection.drop();
    else this.#idle.push(connection);
  }

  onGone(connection: Connection): void {
    const index = this.#idle.lastIndexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }
}

/** Reads the certificates at the first use. Those of Node and the system take 70 ms, which plain http does not need. */
function createLazyContext(certificates: readonly string[] | undefined): () => SecureContext {
  let context: SecureContext | null = null;
  return () => {
    context ??= createSecureContext({ ca: [...(certificates ?? readTrustedCertificates())] });
    return context;
  };
}

/**
 * Throws with `EMFILE` or `ENFILE` if there is no file descriptor to read the certificates of the system with. Node
 * would leave these out silently, and keep what it has read for the life of the process.
 */
function readTrustedCertificates(): Set<string> {
  closeSync(openSync(devNull, 'r'));
  return new Set([...getCACertificates('default'), ...getCACertificates('system')]);
}

/** A target has few addresses at a time. */
const ALLOWED_ADDRESSES_MAX = 64;

/**
 * The guard of one target: finds its addresses, and checks each one by the policy. It remembers the allowed addresses:
 * whether one is allowed depends on nothing that changes.
 */
export function createGuard(policy: EgressPolicy, target: EgressTarget, lookUp: LookUpName): Guard {
  const { host, isLiteral } = target;
  const allowed = new Set<string>();
  return {
    findAddresses: () => (isLiteral ? [host] : lookUp(host)),
    check(address) {
      if (allowed.has(address)) return null;
      const denial = checkAddress(policy, target, address);
      if (denial !== null) return denial;
      if (allowed.size >= ALLOWED_ADDRESSES_MAX) allowed.clear();
      allowed.add(address);
      return null;
    },
  };
}

export interface WholeAnswer extends Omit<EgressAnswer, 'body' | 'bodyLength'> {
  body: Buffer;
}

/**
 * Sends a request and reads its whole answer, up to a maximum size: for requests of the proxy itself. An answer that
 * is larger than `bytesMax` or breaks off is a failure.
 */
export async function fetchWhole(
  egress: EgressDispatcher,
  request: EgressRequest,
  { bytesMax, ...options }: SendOptions & { bytesMax: number },
): Promise<WholeAnswer | EgressFailure> {
  const answer = await egress.send(request, options);
  if (!answer.ok) return answer;
  const { body, bodyLength: _, ...head } = answer;
  let whole: Buffer | null;
  try {
    whole = await readStream(body, bytesMax);
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
    return fail(error.reason === 'aborted' ? 'aborted' : 'reset', error.message);
  }
  return whole === null
    ? fail('bad_response', `answer larger than ${bytesMax} bytes`)
    : { ...head, body: whole };
}

function fail(reason: EgressFailure['reason'], detail: string): EgressFailure {
  return { ok: false, reason, sent: true, detail };
}
