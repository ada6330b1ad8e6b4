/**
 * Every setting, one leaf each: the only place where a setting is named, described or given a default. Variables, flags,
 * the type `Settings`, the reference page and the example file are derived from it.
 */
import { isIP } from 'node:net';
import {
  boolean,
  bytes,
  choice,
  integer,
  isAddressOrCidr,
  type Kind,
  list,
  optional,
  text,
} from './kinds.ts';

export interface Setting<Value = unknown> {
  kind: Kind<Value>;
  default: Value;
  /** What it does and when to change it; one or two sentences of Markdown. */
  description: string;
  /**
   * Masked wherever settings are shown, or only the user and password in it; may also come from the file that the
   * variable `…_FILE` names.
   */
  secret?: true | 'in part';
}

/** An origin without a path, `=`, a protocol. */
const PROTOCOL_FOR = /^https?:\/\/[^/=\s]+=(auto|jsonrpc|json2)$/;
/** 32 bytes in base64, padded. */
const MASTER_KEY = /^[A-Za-z0-9+/]{43}=$/;
const HOUR_MS = 3_600_000;
const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

const isMasterKey = (text: string) => MASTER_KEY.test(text);

export const SETTINGS = {
  'http.host': define({
    kind: text('an IP address or localhost', (host) => host === 'localhost' || isIP(host) !== 0),
    default: '127.0.0.1',
    description:
      'Address to listen on. Set `0.0.0.0` or `::` to be reached from other machines, behind a reverse proxy that speaks TLS.',
  }),
  'http.port': define({
    kind: integer(0, 65_535),
    default: 8787,
    description: 'TCP port to listen on. 0 takes a free one, which the log names.',
  }),
  'http.bodyBytesMax': define({
    kind: bytes(256 * MIB),
    default: 32 * MIB,
    description:
      'Largest request body; a larger one is refused with `payload_too_large`. Each call in flight may hold this much memory: raise it for large uploads only.',
  }),
  'http.requestTimeoutMs': define({
    kind: integer(1, HOUR_MS, 'milliseconds'),
    default: 30_000,
    description:
      'Time that a client may take to send its whole request. Raise it where slow clients send large bodies.',
  }),
  'http.shutdownGraceMs': define({
    kind: integer(0, HOUR_MS, 'milliseconds'),
    default: 10_000,
    description:
      'Time that running calls get to end after SIGTERM or SIGINT; then they are cut off. Keep it below the time after which your supervisor kills the process.',
  }),
  'http.trustProxy': define({
    kind: list('IP addresses or CIDRs with a prefix of at least 1', isAddressOrCidr),
    default: [],
    description:
      'Reverse proxies whose `x-forwarded-for` is believed when the address of a client matters. List yours, and nothing else: whoever is on it can claim any address.',
  }),
  workers: define({
    kind: integer(1, 128, 'processes'),
    default: 1,
    description:
      'Processes that share the port. One has thousands of calls a second; where that is not enough, set the number of cores. Needs a `store.url` that processes can share: not `memory:`.',
  }),
  'store.url': define({
    kind: text('sqlite:<path of a file>, postgres://<user>@<host>/<database> or memory:', (url) =>
      /^(sqlite:.+|postgres(ql)?:\/\/.+|memory:)$/.test(url),
    ),
    default: 'sqlite:./data/erp-proxy.db',
    secret: 'in part',
    description:
      'Where client keys, instances and the audit are kept: `sqlite:` and the path of a file, which is created where it is missing; `postgres://` for several machines; `memory:` forgets everything at exit.',
  }),
  'redis.url': define({
    kind: optional(
      text('redis://<host>, rediss://<host>, valkey://<host> or valkeys://<host>', (url) =>
        /^(redis|valkey)s?:\/\/[^/?#]+(\/\d*)?$/.test(url),
      ),
    ),
    default: null,
    secret: 'in part',
    description:
      'Redis or Valkey in which all processes count the limits of keys together, and tell each other which Odoo databases do not answer. Empty: each process keeps its share of the limits, and finds out for itself. `idempotency.store` can keep idempotency keys there as well.',
  }),
  'keys.hashSecret': define({
    kind: optional(text('a text of at least 32 characters', (secret) => secret.length >= 32)),
    default: null,
    secret: true,
    description:
      'Secret under which client keys are hashed. Empty: one is made at the first start and kept in the store; set it to keep it apart from the store. Changing it makes every key unknown.',
  }),
  'vault.masterKey': define({
    kind: optional(text('32 random bytes in base64', isMasterKey)),
    default: null,
    secret: true,
    description:
      'Master key under which the keys of stored instances are sealed: 32 random bytes in base64, as `openssl rand -base64 32` prints them. Empty: there can be no stored instances. Whoever loses it loses the stored keys.',
  }),
  'vault.otherMasterKeys': define({
    kind: list('master keys: 32 random bytes in base64 each', isMasterKey),
    default: [],
    secret: true,
    description:
      'Further master keys that may open what is sealed. To change the master key, put the new one here on every replica first, then exchange the two; what the old one sealed is sealed again at the next start, and the old one can go.',
  }),
  'admin.token': define({
    kind: optional(text('a text of at least 32 characters', (secret) => secret.length >= 32)),
    default: null,
    secret: true,
    description:
      'Bearer token of the admin API (`/admin/v1`). Empty: the admin API is off, and keys are managed with the commands on this machine.',
  }),
  'audit.retentionDays': define({
    kind: integer(0, 3650, 'days'),
    default: 90,
    description: 'Time for which records of the audit are kept. 0 keeps them for ever.',
  }),
  'idempotency.keptHours': define({
    kind: integer(1, 720, 'hours'),
    default: 24,
    description: 'Time for which the answer to a call with an `idempotency-key` is kept, and given again.',
  }),
  'idempotency.answerBytesMax': define({
    kind: bytes(16 * MIB),
    default: 256 * KIB,
    description:
      'Longest answer that is kept. A write whose answer is longer is known as run, without its answer; a read is run again.',
  }),
  'idempotency.clientKeysMax': define({
    kind: integer(1, 100_000_000),
    default: 100_000,
    description:
      'Idempotency keys that one client key can have at once. Beyond them a call with a new one is refused with `rate_limited`; each takes about 500 bytes without its answer, or 1 KiB in Redis.',
  }),
  'idempotency.clientBytesMax': define({
    kind: bytes(1024 * GIB),
    default: 64 * MIB,
    description:
      'Bytes of the answers that are kept for one client key, all together. Beyond them its calls go on as if their answers were too long to be kept.',
  }),
  'idempotency.store': define({
    kind: choice('store', 'redis'),
    default: 'store',
    description:
      'Where idempotency keys are kept: `store` is where `store.url` points, `redis` is `redis.url`. A Redis that loses its data lets calls be run twice: see [idempotency.md](idempotency.md) for the settings that it needs.',
  }),
  'cache.bytesMax': define({
    kind: bytes(16 * 1024 * MIB, 0),
    default: 64 * MIB,
    description:
      'Memory for answers to reads that are kept for callers who accept them some seconds old (`cache-control: max-age`): of each process, or of Redis for all together. 0: none is kept.',
  }),
  'cache.store': define({
    kind: choice('memory', 'redis'),
    default: 'memory',
    description:
      'Where these answers are kept: `memory`, by each process for itself; `redis`, sealed, for all processes together, which needs `redis.url`.',
  }),
  'egress.allow': define({
    kind: list('origins, hosts or CIDRs', (entry) => entry.trim() !== ''),
    default: [],
    description:
      'Origins, hosts or CIDRs of Odoo servers that may be private or plain http, such as `http://odoo.internal:8069` or `10.1.0.0/16`. Empty: only public addresses over https are reached.',
  }),
  'upstream.concurrency': define({
    kind: integer(1, 100_000, 'calls'),
    default: 64,
    description:
      'Most calls at once for one Odoo database, of all processes together: each keeps its part, one call at least. Below it the number finds its level: it rises while answers stay as fast as they were, and is halved on time-outs, 429 and 503. An instance can have a bound of its own.',
  }),
  'upstream.concurrencyMin': define({
    kind: integer(1, 100_000, 'calls'),
    default: 2,
    description:
      'Fewest calls at once for one Odoo database, however slow it is; divided like `upstream.concurrency`. As much as `upstream.concurrency`: the number is fixed.',
  }),
  'upstream.queue': define({
    kind: integer(0, 100_000, 'calls'),
    default: 1000,
    description:
      'Calls that may wait for one Odoo database, divided like `upstream.concurrency`. They take turns by key; further ones are refused with `overloaded`, those of the key with the most waiting first.',
  }),
  'upstream.retries': define({
    kind: integer(0, 10),
    default: 2,
    description:
      'How often a call is sent to Odoo again at most, where that can do no harm: a read on a lost connection, 502, 503 or 504, any call that Odoo rolled back for another transaction. 0 turns it off.',
  }),
  'upstream.protocol': define({
    kind: choice('auto', 'jsonrpc', 'json2'),
    default: 'auto',
    description:
      'How Odoo servers are spoken to. `auto` uses `/json/2` from Odoo 19 on where the outcome is certain to be the same, else `/jsonrpc`; the others are for servers behind a proxy that lets only one through.',
  }),
  'upstream.protocolFor': define({
    kind: list('origins with a protocol, such as https://erp.example.com=jsonrpc', (entry) =>
      PROTOCOL_FOR.test(entry),
    ),
    default: [],
    description:
      'Servers that are spoken to otherwise than `upstream.protocol` says: an origin, `=`, and `auto`, `jsonrpc` or `json2`, such as `https://erp.example.com=jsonrpc`.',
  }),
  'upstream.timeoutMs': define({
    kind: integer(1, 300_000, 'milliseconds'),
    default: 15_000,
    description:
      'Time for a whole call, to the last byte of its answer, where the caller sends no `x-request-timeout`. Raise it where reports or imports take longer.',
  }),
  'upstream.connectTimeoutMs': define({
    kind: integer(1, 300_000, 'milliseconds'),
    default: 5000,
    description:
      'Time to resolve the name of an Odoo server, connect and finish the TLS handshake. The time of the whole call still holds.',
  }),
  'upstream.firstByteTimeoutMs': define({
    kind: optional(integer(1, 300_000, 'milliseconds')),
    default: null,
    description:
      "Time that Odoo may take from the request to the head of its answer. Empty: the call's own time; set it to give up on a busy server earlier.",
  }),
  'upstream.answerBytesMax': define({
    kind: bytes(256 * MIB),
    default: 8 * MIB,
    description:
      'Largest answer of an Odoo server that is read whole before it is passed on, such as an error. Results that are streamed have no limit.',
  }),
  'upstream.refusedCredentialsTtlMs': define({
    kind: integer(0, HOUR_MS, 'milliseconds'),
    default: 10_000,
    description:
      'Time for which credentials that Odoo refused are refused here without asking again, since each such check costs Odoo a third of a second. 0 turns it off.',
  }),
  'batch.concurrency': define({
    kind: integer(1, 100, 'calls'),
    default: 8,
    description:
      'Calls of one batch that run at once. Lower it where one batch takes all the workers of an Odoo server.',
  }),
  'errors.debug': define({
    kind: boolean(),
    default: false,
    description:
      "Passes Odoo's traceback on in `data.debug` of an error. It shows callers paths and code of the server: for development only.",
  }),
  'log.level': define({
    kind: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    description: 'Least severe level of the lines that are logged.',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
type SettingValue<Name extends SettingName> = (typeof SETTINGS)[Name]['default'];

type GroupOf<Name extends SettingName> = Name extends `${infer Group}.${string}` ? Group : never;

/** `settings.http.port` and so on, and `settings.workers`, which is in no group; read-only. */
export type Settings = {
  readonly [Group in GroupOf<SettingName>]: {
    readonly [Name in SettingName as Name extends `${Group}.${infer Key}` ? Key : never]: SettingValue<Name>;
  };
} & {
  readonly [Name in Exclude<SettingName, `${string}.${string}`>]: SettingValue<Name>;
};

/** Fixes the type of the default to that of the kind: `number`, not `8787`. */
function define<Value>(setting: Setting<Value>): Setting<Value> {
  return setting;
}
