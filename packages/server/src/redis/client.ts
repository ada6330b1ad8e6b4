/**
 * One connection to Redis or Valkey, and whether it can be asked now. No caller waits for a Redis that is away: once it
 * did not answer in time, or answered that it can serve nobody, it is left alone but for a beat each second; the first beat
 * that is answered well brings it back. An error reply about one name or command fails that operation only. With the beat this
 * process also tells the others that it is there, and counts them. The only file that knows the driver.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis, ReplyError } from 'ioredis';
import { TIMED_OUT, waitFor } from '../streams/wait.ts';
import { readRedisAddress } from './address.ts';
import { defineScript, READ_NOW, type Script } from './script.ts';

/** Redis did not do what it was asked; whoever asked has to do without it. */
export class RedisFailure extends Error {
  override readonly name: string = 'RedisFailure';
}

/** Redis cannot be asked at all now. */
export class RedisAwayError extends RedisFailure {
  override readonly name = 'RedisAwayError';
}

type Argument = string | number | Uint8Array;

export interface RedisClientOptions {
  /** `redis.url`. */
  url: string;
  /** Begins all names in Redis: replicas with the same one share what is there. */
  prefix: string;
  /** Told why Redis is away, and null when it is back. */
  onTrouble?: (trouble: string | null) => void;
  /** Told of an operation that Redis refuses though it is there; once for each script and connection. */
  onRefusal?: (refusal: RedisRefusal) => void;
}

export interface RedisRefusal {
  /** Redis's own text, without arguments. */
  said: string;
  /** The names that the operation was about. */
  names: readonly string[];
}

/** An answer takes less than a millisecond; a call waits for it no longer than this, once. */
const ANSWER_TIMEOUT_MS = 100;
const BEAT_INTERVAL_MS = 1000;
/** A process without a beat for so long is no longer counted. */
const REPLICA_TTL_MS = 5000;
/** A connection on which nothing was heard for so long, though something was asked, is given up for a new one. */
const SILENCE_MAX_MS = 3000;
const CONNECT_TIMEOUT_MS = 3000;
const RECONNECT_DELAY_MAX_MS = 1000;
/** ioredis waits this long for a connection to close, also where none is open; until then it keeps the process. */
const DISCONNECT_TIMEOUT_MS = 50;
/** Time for Redis to answer first, when the process starts. */
const START_TIMEOUT_MS = 1000;

/**
 * KEYS: the replicas. ARGV: this one's id, how long it counts. Gives how many there are. A value of another type under this name
 * is removed.
 */
const BEAT = defineScript(`${READ_NOW}
local found = redis.call('TYPE', KEYS[1]).ok
if found ~= 'zset' and found ~= 'none' then redis.call('DEL', KEYS[1]) end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`);
/**
 * Error replies that say of the whole server, or of this user, that it serves nobody now. They begin the text, or follow the
 * place in the script (Redis 6). Any other error reply is about one name or command.
 */
const OUT_OF_SERVICE =
  /^(?:ERR Error running script .*: -?)?(OOM|READONLY|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|CLUSTERDOWN|BUSY|UNKILLABLE|NOAUTH|WRONGPASS)\b/;

const LEAVE = defineScript(`return redis.call('ZREM', KEYS[1], ARGV[1])`);

export class RedisClient {
  /** For operators: where it is, without credentials. */
  readonly label: string;
  /** Names this process among the replicas. */
  readonly replicaId: string = randomUUID();
  readonly #connection: Redis;
  readonly #prefix: string;
  readonly #onTrouble: (trouble: string | null) => void;
  readonly #onRefusal: (refusal: RedisRefusal) => void;
  readonly #beatListeners: (() => void)[] = [];
  readonly #backListeners: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  /** Digests of the scripts that were sent on this connection. */
  readonly #sent = new Set<string>();
  /** Digests of the scripts of which a refusal was told on this connection. */
  readonly #refused = new Set<string>();
  #trouble: string | null = 'it was not reached yet';
  #connectionError: string | null = null;
  #replicas = 1;

  /** Throws a RangeError where the address is not one. The connection is made in the background: see `start`. */
  constructor({ url, prefix, onTrouble = () => {}, onRefusal = () => {} }: RedisClientOptions) {
    const { label, ...address } = readRedisAddress(url);
    this.label = label;
    this.#prefix = prefix;
    this.#onTrouble = onTrouble;
    this.#onRefusal = onRefusal;
    this.#connection = new Redis({
      ...address,
      connectionName: 'erp-proxy',
      connectTimeout: CONNECT_TIMEOUT_MS,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_MAX_MS,
      enableOfflineQueue: false,
      // What is under way when a connection breaks fails at once: its caller has gone on without it.
      maxRetriesPerRequest: 0,
      retryStrategy: (attempts) => Math.min(attempts * 50, RECONNECT_DELAY_MAX_MS),
      // After a failover the old address may lead to a server that only reads; a new connection may lead to the right one.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    });
    this.#connection.on('error', (error) => {
      this.#connectionError = describeFault(error);
    });
    this.#connection.on('close', () => this.#setTrouble(this.#connectionError ?? 'the connection is closed'));
    this.#connection.on('ready', () => {
      this.#connectionError = null;
      this.#sent.clear();
      this.#refused.clear();
      this.#beat();
    });
    this.#timer = setInterval(() => this.#beat(), BEAT_INTERVAL_MS).unref();
  }

  /** Why Redis is not asked now; null where it answers. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Processes that share this Redis, this one among them, as last seen. */
  get replicas(): number {
    return this.#replicas;
  }

  /** Resolves when Redis has answered, or has had its time to: the process starts without it, too. */
  async start(): Promise<void> {
    const isOver = AbortSignal.timeout(START_TIMEOUT_MS);
    while (this.#trouble !== null && !isOver.aborted) await delay(5);
  }

  /** After each beat that was answered, before anything else is asked: the first one after Redis was away is among them. */
  onBeat(listener: () => void): void {
    this.#beatListeners.push(listener);
  }

  /** When Redis answers after it was away, before anything else is asked. It may have lost something meanwhile. */
  onBack(listener: () => void): void {
    this.#backListeners.push(listener);
  }

  /** The whole name of what is called so by us. */
  name(...parts: string[]): string {
    return [this.#prefix, ...parts].join(':');
  }

  /**
   * Runs the script. Rejects with a {@link RedisAwayError} at once where Redis is away, and soon where it does not answer; with
   * another {@link RedisFailure} where it refuses this operation.
   */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    if (this.#trouble !== null) throw new RedisAwayError(this.#trouble);
    return this.#ask(script, keys, args);
  }

  /** What Redis says of itself. */
  async readInfo(): Promise<string> {
    return this.#connection.info();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#connection.removeAllListeners('close');
    await this.run(LEAVE, [this.name('replicas')], [this.replicaId]).catch(() => {});
    this.#connection.disconnect();
  }

  async #ask(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    try {
      const answer = await waitFor(this.#evaluate(script, keys, args), { timeoutMs: ANSWER_TIMEOUT_MS });
      if (answer === TIMED_OUT) throw new Error(`no answer within ${ANSWER_TIMEOUT_MS} ms`);
      return answer;
    } catch (error) {
      const said = describeFault(error);
      if (error instanceof ReplyError && !OUT_OF_SERVICE.test(said)) {
        this.#tellRefusal(script, { said, names: keys });
        throw new RedisFailure(said);
      }
      const trouble = this.#connection.status === 'ready' ? said : this.#connectionError;
      this.#setTrouble(trouble ?? 'there is no connection');
      throw new RedisAwayError(this.#trouble ?? '');
    }
  }

  /** The first one tells the operator what to mend; a call that meets it again and again must not fill the log. */
  #tellRefusal({ digest }: Script, refusal: RedisRefusal): void {
    if (this.#refused.has(digest)) return;
    this.#refused.add(digest);
    this.#onRefusal(refusal);
  }

  async #evaluate(
    { digest, text }: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<unknown> {
    const values = [...keys, ...args.map((arg) => (typeof arg === 'object' ? Buffer.from(arg) : arg))];
    const sendWhole = () => {
      this.#sent.add(digest);
      return this.#connection.callBuffer('EVAL', text, keys.length, ...values);
    };
    // Whole the first time on a connection, so that what is asked one after the other is done in this order.
    if (!this.#sent.has(digest)) return sendWhole();
    try {
      return await this.#connection.callBuffer('EVALSHA', digest, keys.length, ...values);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return sendWhole();
      throw error;
    }
  }

  async #beat(): Promise<void> {
    try {
      const count = await this.#ask(BEAT, [this.name('replicas')], [this.replicaId, REPLICA_TTL_MS]);
      this.#replicas = Math.max(1, Number(count));
    } catch (error) {
      // A Redis that refuses even this one serves nobody.
      this.#setTrouble(describeFault(error));
      return;
    }
    this.#setTrouble(null);
    for (const listener of this.#beatListeners) listener();
  }

  #setTrouble(trouble: string | null): void {
    const isNews = (trouble === null) !== (this.#trouble === null);
    this.#trouble = trouble;
    if (!isNews) return;
    this.#onTrouble(trouble);
    if (trouble === null) for (const listener of this.#backListeners) listener();
  }
}

/** The message alone, without the arguments that it may quote: with the driver's errors comes the command, and the password. */
function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const [message = ''] = error.message.split(', with args beginning with');
  return message || ('code' in error ? String(error.code) : error.name);
}
