/**
 * A connection to Redis or Valkey, and its availability. No caller waits for a Redis that is away. After a missing
 * answer, or an error reply that concerns the whole server, only a heartbeat each second is sent; the first successful
 * one makes Redis available again. An error reply about one name or command fails only that operation. The heartbeat
 * also registers this process among the replicas, and counts them. Only this file uses the driver.
 */
import { randomUUID } from 'node:crypto';
import { delay, TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import { Redis, ReplyError } from 'ioredis';

/** The beginning of a script: sets `now` to milliseconds since 1970 by the clock of Redis, which all replicas share. */
export const READ_NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
`;

/** Redis did not run the operation. The caller must continue without its result. */
export class RedisFailure extends Error {
  override readonly name: string = 'RedisFailure';
}

/** Redis is not available at present. */
export class RedisAwayError extends RedisFailure {
  override readonly name = 'RedisAwayError';
}

type Argument = string | number | Uint8Array;

export interface RedisClientOptions {
  /** The setting `redis.url`. */
  url: string;
  /** Prefix of all names in Redis. Replicas with the same prefix share their data. */
  prefix: string;
  /** Called with the reason when Redis goes away, and with null when it is back. */
  onTrouble?: (trouble: string | null) => void;
  /** Called for operations that an available Redis refuses, once for each command or script and connection. */
  onRefusal?: (refusal: RedisRefusal) => void;
  /** Time limit for an answer, in milliseconds. Longer in tests, for a busy machine. */
  answerTimeoutMs?: number | undefined;
}

export interface RedisRefusal {
  /** The error text of Redis, without arguments. */
  said: string;
  /** The names in Redis that the operation used. */
  names: readonly string[];
}

/** Time limit for an answer. A call waits this long at most, once. An answer usually takes less than a millisecond. */
const ANSWER_TIMEOUT_MS = 100;
const HEARTBEAT_INTERVAL_MS = 1000;
/** Time after the last heartbeat of a process for which the process is counted. */
const REPLICA_TTL_MS = 5000;
/** Time without any reply to a request after which the connection is replaced. */
const SILENCE_MAX_MS = 3000;
const CONNECT_TIMEOUT_MS = 3000;
const RECONNECT_DELAY_MAX_MS = 1000;
/**
 * Time for which ioredis waits for the connection to close, even if none is open. It keeps the process alive until
 * then.
 */
const DISCONNECT_TIMEOUT_MS = 50;
/** Time for which the start of the process waits for the first answer. */
const START_TIMEOUT_MS = 1000;

/**
 * KEYS: the replicas. ARGV: id of this replica, milliseconds for which it is counted. Returns the number of replicas.
 * Removes a value of another type under the same name.
 */
const HEARTBEAT = `${READ_NOW}
local found = redis.call('TYPE', KEYS[1]).ok
if found ~= 'zset' and found ~= 'none' then redis.call('DEL', KEYS[1]) end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
-- A heartbeat can be this late only if the clock was set back.
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 1000, '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`;
/**
 * Error replies that concern the whole server or this user. The code is at the start of the text, or after the position
 * in the script (Redis 6). All other error replies concern one name or command.
 */
const OUT_OF_SERVICE =
  /^(?:ERR Error running script .*: -?)?(OOM|READONLY|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|CLUSTERDOWN|BUSY|UNKILLABLE|NOAUTH|WRONGPASS)\b/;

export class RedisClient {
  /** Address for operators, without credentials. */
  readonly label: string;
  /** Identifies this process among the replicas. */
  readonly replicaId: string = randomUUID();
  readonly #connection: Redis;
  readonly #hasTls: boolean;
  readonly #prefix: string;
  readonly #onTrouble: (trouble: string | null) => void;
  readonly #onRefusal: (refusal: RedisRefusal) => void;
  readonly #answerTimeoutMs: number;
  readonly #heartbeatListeners: (() => void)[] = [];
  readonly #backListeners: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  /** Commands and scripts whose refusal was reported on this connection. */
  readonly #refused = new Set<string>();
  #trouble: string | null = 'it was not reached yet';
  #connectionError: string | null = null;
  #replicas = 1;

  /** Connects in the background; see `start`. Throws a RangeError if the address is invalid. */
  constructor({
    url,
    prefix,
    onTrouble = () => {},
    onRefusal = () => {},
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
  }: RedisClientOptions) {
    const { label, ...address } = readRedisAddress(url);
    this.label = label;
    this.#hasTls = address.tls !== undefined;
    this.#prefix = prefix;
    this.#onTrouble = onTrouble;
    this.#onRefusal = onRefusal;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#connection = new Redis({
      ...address,
      connectionName: 'erp-proxy',
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MAX_MS,
      enableOfflineQueue: false,
      // Pending requests fail when the connection breaks, because their callers have continued without an answer.
      maxRetriesPerRequest: 0,
      retryStrategy: (attempts) => Math.min(attempts * 50, RECONNECT_DELAY_MAX_MS),
      // After a failover the connection may be to a read-only server. A new connection may reach the right one.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    });
    this.#connection.on('error', (error) => {
      this.#connectionError = describeError(error);
    });
    this.#connection.on('close', () => this.#setTrouble(this.#connectionError ?? 'the connection is closed'));
    this.#connection.on('ready', () => {
      this.#connectionError = null;
      this.#refused.clear();
      this.#sendHeartbeat();
    });
    this.#timer = setInterval(() => this.#sendHeartbeat(), HEARTBEAT_INTERVAL_MS).unref();
  }

  /** The reason why Redis is away; null if it is available. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Number of processes that share this Redis, including this one, at the last heartbeat. */
  get replicas(): number {
    return this.#replicas;
  }

  /** Resolves when Redis has answered, or after START_TIMEOUT_MS: the process can start without Redis. */
  async start(): Promise<void> {
    const isOver = AbortSignal.timeout(START_TIMEOUT_MS);
    while (this.#trouble !== null && !isOver.aborted) await delay(5, isOver);
  }

  /**
   * The listener is called after each successful heartbeat, before any other operation. This includes the first
   * heartbeat after Redis was away.
   */
  onHeartbeat(listener: () => void): void {
    this.#heartbeatListeners.push(listener);
  }

  /**
   * The listener is called when Redis is back, before any other operation. Redis may have lost data while it was away.
   */
  onBack(listener: () => void): void {
    this.#backListeners.push(listener);
  }

  /** Builds a name in Redis, with the prefix. */
  name(...parts: string[]): string {
    return [this.#prefix, ...parts].join(':');
  }

  /**
   * Runs the command on a name. Rejects with a {@link RedisAwayError} at once if Redis is away, or after the time limit
   * for an answer. Rejects with another {@link RedisFailure} if Redis refuses this operation. Operations run in order.
   */
  async run(command: string, name: string, ...args: Argument[]): Promise<unknown> {
    if (this.#trouble !== null) throw new RedisAwayError(this.#trouble);
    return this.#call(command, [name], [name, ...args]);
  }

  /** Runs a Lua script, which Redis runs atomically, like a command. */
  async runScript(script: string, names: readonly string[], args: readonly Argument[]): Promise<unknown> {
    if (this.#trouble !== null) throw new RedisAwayError(this.#trouble);
    return this.#evaluate(script, names, args);
  }

  /**
   * Takes over the user and the password of another `redis.url` of the same server: this connection is authenticated
   * with them, and so are later ones. Rejects with a {@link RedisFailure} or a RangeError, and changes nothing, if the
   * URL differs in more than that, or if the server refuses them.
   */
  async takeLogin(url: string): Promise<void> {
    const { username, password, ...place } = readRedisAddress(url);
    if (place.label !== this.label || (place.tls === undefined) === this.#hasTls) {
      throw new RangeError(
        'it differs from the Redis in use in more than user and password. Restart the proxy to use another one.',
      );
    }
    await tryLogin({ ...place, ...(username && { username }), ...(password && { password }) });
    const connection = this.#connection;
    Object.assign(connection.options, { username, password });
    if (connection.status !== 'ready' || password === undefined) return;
    // The server has just accepted them. A connection that breaks meanwhile reconnects with them.
    await connection.call('AUTH', ...(username ? [username] : []), password).catch(() => {});
  }

  /** The reply to `INFO`. */
  async readInfo(): Promise<string> {
    return this.#connection.info();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#connection.removeAllListeners('close');
    await this.run('ZREM', this.name('replicas'), this.replicaId).catch(() => {});
    this.#connection.disconnect();
  }

  /**
   * Sends the whole script each time: with a digest, a script that Redis has lost would be sent again, after later
   * operations.
   */
  #evaluate(script: string, names: readonly string[], args: readonly Argument[]): Promise<unknown> {
    return this.#call('EVAL', names, [script, names.length, ...names, ...args], script);
  }

  /** `operation`: the command or script for which a refusal is reported once. */
  async #call(
    command: string,
    names: readonly string[],
    args: readonly Argument[],
    operation = command,
  ): Promise<unknown> {
    try {
      const values = args.map((arg) => (typeof arg === 'object' ? Buffer.from(arg) : arg));
      const answer = await waitFor(this.#connection.callBuffer(command, ...values), {
        timeoutMs: this.#answerTimeoutMs,
      });
      if (answer === TIMED_OUT) throw new Error(`no answer within ${this.#answerTimeoutMs} ms`);
      return answer;
    } catch (error) {
      const said = describeError(error);
      if (error instanceof ReplyError && !OUT_OF_SERVICE.test(said)) {
        // Reported only once, so that repeated calls do not fill the log.
        if (!this.#refused.has(operation)) this.#onRefusal({ said, names });
        this.#refused.add(operation);
        throw new RedisFailure(said);
      }
      const trouble = this.#connection.status === 'ready' ? said : this.#connectionError;
      this.#setTrouble(trouble ?? 'there is no connection');
      throw new RedisAwayError(this.#trouble ?? '');
    }
  }

  async #sendHeartbeat(): Promise<void> {
    try {
      const count = await this.#evaluate(
        HEARTBEAT,
        [this.name('replicas')],
        [this.replicaId, REPLICA_TTL_MS],
      );
      this.#replicas = Math.max(1, Number(count));
    } catch (error) {
      // A Redis that refuses the heartbeat counts as away.
      this.#setTrouble(describeError(error));
      return;
    }
    this.#setTrouble(null);
    for (const listener of this.#heartbeatListeners) listener();
  }

  #setTrouble(trouble: string | null): void {
    const hasChanged = (trouble === null) !== (this.#trouble === null);
    this.#trouble = trouble;
    if (!hasChanged) return;
    this.#onTrouble(trouble);
    if (trouble === null) for (const listener of this.#backListeners) listener();
  }
}

/** Rejects with a {@link RedisFailure} if the server does not accept the user and password. */
async function tryLogin(address: Omit<RedisAddress, 'label'>): Promise<void> {
  const connection = new Redis({
    ...address,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_MAX_MS,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: string | null = null;
  connection.on('error', (error) => {
    reason ??= describeError(error);
  });
  try {
    await connection.connect();
    await connection.ping();
  } catch (error) {
    throw new RedisFailure(reason ?? describeError(error));
  } finally {
    connection.disconnect();
  }
}

/** The message without quoted arguments: errors of the driver quote the command, which may contain the password. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const [message = ''] = error.message.split(', with args beginning with');
  return message || ('code' in error ? String(error.code) : error.name);
}

/** Parses `redis.url`. An error names the invalid part and never repeats the address, which may contain a password. */
export interface RedisAddress {
  /** Address for operators, without user and password. */
  label: string;
  host: string;
  port: number;
  /** Database number. */
  db: number;
  /** Left out if the address has none. */
  username?: string;
  password?: string;
  /** Left out without TLS. */
  tls?: object;
}

const SCHEMES = new Map([
  ['redis:', { isTls: false }],
  ['rediss:', { isTls: true }],
  ['valkey:', { isTls: false }],
  ['valkeys:', { isTls: true }],
]);
const DEFAULT_PORT = 6379;
const EXAMPLE = 'redis://<user>:<password>@<host>:<port>/<number of the database>';

/** Parses `redis.url`. Throws a RangeError with a message for the operator. */
export function readRedisAddress(text: string): RedisAddress {
  const url = URL.parse(text);
  const scheme = SCHEMES.get(url?.protocol ?? '');
  if (url === null || scheme === undefined)
    throw new RangeError(`redis.url is not an address: write ${EXAMPLE}, or rediss:// for TLS.`);
  if (url.hostname === '') throw new RangeError(`redis.url names no host: write ${EXAMPLE}.`);
  if (url.search !== '' || url.hash !== '') throw new RangeError('redis.url takes nothing behind a ? or #.');
  if (!/^\/?\d*$/.test(url.pathname))
    throw new RangeError(`redis.url names a database that is not a number: write ${EXAMPLE}.`);
  const host = url.hostname.replace(/^\[(.+)\]$/, '$1');
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  const db = Number(url.pathname.slice(1));
  const username = decode(url.username, 'user');
  const password = decode(url.password, 'password');
  return {
    label: `redis ${url.hostname}:${port}/${db}`,
    host,
    port,
    db,
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(scheme.isTls ? { tls: {} } : {}),
  };
}

function decode(part: string, name: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError(`The ${name} in redis.url has a % that begins no escape: write it as %25.`);
  }
}
