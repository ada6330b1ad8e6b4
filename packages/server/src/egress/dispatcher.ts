/**
 * The one path for outgoing bytes: judges where a request wants to go, and sends it on a connection that the guard
 * opened. Redirects are not followed, nothing is connected ahead of need (docs/odoo-facts.md#idle-connections),
 * HTTP/1.1 only.
 */
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { Connection, type ConnectionOwner } from './connection.ts';
import { Call } from './egress-call.ts';
import type { EgressAnswer, EgressDenial, EgressFailure, EgressRequest, EgressTrust } from './messages.ts';
import { cacheNames, type ResolveName, resolveBySystem } from './names.ts';
import type { OpeningMeans } from './opening.ts';
import { type EgressPolicy, type EgressTarget, judgeOrigin } from './policy.ts';
import { buildRequest } from './request-bytes.ts';

export type {
  EgressAnswer,
  EgressDenial,
  EgressFailure,
  EgressRequest,
  EgressTrust,
} from './messages.ts';

export interface SendOptions {
  signal: AbortSignal;
  /** Asked where a connection had to be made, before a byte of the request leaves. Must not reject. */
  isStillWanted?: (() => Promise<boolean>) | undefined;
}

export interface EgressDispatcher {
  /** What can be told without DNS: scheme, port, a literal address. */
  judge(origin: string, trust?: EgressTrust | null): EgressDenial | null;
  /** Rejects only where the request itself is not one that can be sent (a line break in a header). */
  send(request: EgressRequest, options: SendOptions): Promise<EgressAnswer | EgressFailure>;
  /** Ends the calls that run, closes every connection. */
  close(): Promise<void>;
}

export interface EgressOptions {
  allow: EgressPolicy;
  /** DNS, TCP and TLS together. */
  connectTimeoutMs: number;
  /** From the last byte of the request to the head of the answer; null leaves it to the call's signal. */
  firstByteTimeoutMs: number | null;
  resolve?: ResolveName;
  /** PEM certificates trusted instead of those of Node and of the system. */
  certificates?: readonly string[];
  /** A clock that never goes back. */
  nowMs?: () => number;
}

/** A caller can name any number of origins; connections are kept for so many, each trust of one counted. */
const ORIGINS_MAX = 1_000;
const IDLE_CONNECTIONS_MAX = 256;

export function createEgressDispatcher(options: EgressOptions): EgressDispatcher {
  const { allow: policy, firstByteTimeoutMs, connectTimeoutMs } = options;
  const means: OpeningMeans = {
    policy,
    connectTimeoutMs,
    lookUp: cacheNames(options.resolve ?? resolveBySystem, options.nowMs ?? (() => performance.now())),
    secureContext: trustOnFirstUse(options.certificates),
  };
  const pools = new LRUCache<string, Pool>({ max: ORIGINS_MAX, dispose: (pool) => pool.retire() });
  const connections = new Set<Connection>();
  let isClosed = false;

  /** The policy never changes within a dispatcher, so that an origin that has a pool has been judged. */
  function findPool(origin: string, trust: EgressTrust | null): Pool | EgressDenial {
    const name = namePool(origin, trust);
    const known = pools.get(name);
    if (known !== undefined) return known;
    const target = judgeOrigin(policy, origin, trust?.isAllowed);
    if ('rule' in target) return target;
    const pool = new Pool(new URL(origin).host, target, equip(means, trust), connections);
    pools.set(name, pool);
    return pool;
  }

  return {
    judge(origin, trust = null) {
      if (pools.has(namePool(origin, trust))) return null;
      const target = judgeOrigin(policy, origin, trust?.isAllowed);
      return 'rule' in target ? target : null;
    },

    send(request, { signal, isStillWanted }) {
      const pool = findPool(request.origin, request.trust ?? null);
      if ('rule' in pool) return Promise.resolve(refuse('denied', pool.detail));
      if (signal.aborted) return Promise.resolve(refuse('aborted', 'the caller aborted before sending'));
      if (isClosed) return Promise.resolve(refuse('aborted', 'the proxy is shutting down'));
      return new Promise((settle) => {
        const bytes = buildRequest(request, pool.host);
        const connection = pool.take();
        const call = new Call(connection, { signal, firstByteTimeoutMs }, settle);
        connection.run(call, bytes, pool.means, isStillWanted ?? ALWAYS);
      });
    },

    async close() {
      isClosed = true;
      pools.clear();
      for (const connection of connections) connection.close();
    },
  };
}

const ALWAYS = () => Promise.resolve(true);

function refuse(reason: 'denied' | 'aborted', detail: string): EgressFailure {
  return { ok: false, reason, sent: false, detail };
}

/** No origin has a space in it, so that no trust can stand for another origin or for none. */
function namePool(origin: string, trust: EgressTrust | null): string {
  return trust === null ? origin : `${origin} ${trust.id}`;
}

function equip(means: OpeningMeans, trust: EgressTrust | null): OpeningMeans {
  const certificates = trust?.certificates ?? null;
  return certificates === null ? means : { ...means, secureContext: trustOnFirstUse([certificates]) };
}

/** The connections of one origin and trust that wait for a call; the last used first, so that the others can go. */
class Pool implements ConnectionOwner {
  /** With the port where it is not the scheme's own, as the host header has it. */
  readonly host: string;
  readonly target: EgressTarget;
  readonly means: OpeningMeans;
  session: Buffer | null = null;
  readonly #connections: Set<Connection>;
  #idle: Connection[] = [];
  #isRetired = false;

  constructor(host: string, target: EgressTarget, means: OpeningMeans, connections: Set<Connection>) {
    this.host = host;
    this.target = target;
    this.means = means;
    this.#connections = connections;
  }

  take(): Connection {
    for (let kept = this.#idle.pop(); kept !== undefined; kept = this.#idle.pop()) {
      if (kept.isOpen) return kept;
      this.#connections.delete(kept);
    }
    const connection = new Connection(this);
    this.#connections.add(connection);
    return connection;
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
    this.#connections.delete(connection);
    const index = this.#idle.lastIndexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }
}

/** Certificates of Node and of the system, read once: some 70 ms that only https needs. */
function trustOnFirstUse(certificates: readonly string[] | undefined): () => SecureContext {
  let context: SecureContext | null = null;
  return () => {
    context ??= createSecureContext({
      ca: [...(certificates ?? new Set([...getCACertificates('default'), ...getCACertificates('system')]))],
    });
    return context;
  };
}
