/**
 * Every setting with its kind, default and description. Variables, flags, the type `Settings`, the reference page and
 * the example file are derived from this table.
 */
import { isIP } from 'node:net';
import { joinAlternatives, STORE_ENGINES } from '@erp-proxy/stores';
import {
  boolean,
  bytes,
  choice,
  entries,
  fraction,
  integer,
  isAddressOrCidr,
  isPublicUrl,
  type Kind,
  list,
  named,
  optional,
  text,
} from './kinds.ts';

export interface Setting<Value = unknown> {
  kind: Kind<Value>;
  default: Value;
  /** What the setting does and when to change it: a few sentences of Markdown. */
  description: string;
  /**
   * True: the value is masked wherever settings are shown. `in part`: only a user and password in the value are masked.
   * Both kinds can also be read from the file that the variable `…_FILE` names.
   */
  secret?: true | 'in part';
  /** Standard variables that set it, too, in order of precedence. The variable of this program comes before them. */
  standardVariables?: readonly StandardVariable[];
}

export interface StandardVariable {
  name: string;
  /** Converts the text to that of this program's variable. Null: the text does not set the setting. */
  convert?: (text: string) => string | null;
}

/** Matches an origin without a path, `=` and a protocol. */
const PROTOCOL_FOR = /^https?:\/\/[^/=\s]+=(auto|jsonrpc|json2)$/;
/** Matches 32 bytes in base64, padded. */
const MASTER_KEY = /^[A-Za-z0-9+/]{43}=$/;
const HOUR_MS = 3_600_000;
const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/**
 * True for a name without blanks and separators, `=`, and a value with escapes, as in the variables of OpenTelemetry.
 */
const isNameWithValue = (text: string) => /^[^=,\s]+=[^\r\n]*$/.test(text);
/** Reads a variable that names the exporters of a signal. */
const readExporter = (text: string) => {
  if (text === 'none') return 'false';
  return text === 'otlp' ? 'true' : null;
};
const isCollectorUrl = (text: string) => {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return /^https?:$/.test(url.protocol) && !/[?#\s]/.test(text);
};

const isIssuerUrl = (text: string) => {
  const url = URL.parse(text);
  return (
    /^https?:$/.test(url?.protocol ?? '') && url?.username === '' && url.password === '' && !/[?#]/.test(text)
  );
};
const isMasterKey = (text: string) => MASTER_KEY.test(text);

export const SETTINGS = {
  'http.host': define({
    kind: text('an IP address or localhost', (host) => host === 'localhost' || isIP(host) !== 0),
    default: '127.0.0.1',
    description:
      'Address to listen on. To accept connections from other machines, set `0.0.0.0` or `::` and use a reverse proxy with TLS.',
  }),
  'http.port': define({
    kind: integer(0, 65_535),
    default: 8787,
    description: 'TCP port to listen on. 0 selects a free port, which the log shows.',
  }),
  'http.bodyBytesMax': define({
    kind: bytes(256 * MIB),
    default: 32 * MIB,
    description:
      'Maximum size of a request body. Larger ones are refused with `payload_too_large`. Each call in flight can use this much memory, so raise it only for large uploads.',
  }),
  'http.bodiesBytesMax': define({
    kind: bytes(64 * GIB),
    default: 256 * MIB,
    description:
      'Maximum size of all request bodies above 64 KiB that a process holds at once. A body that finds no room waits unread, and is refused with `overloaded` after 10 s. A call can need three times the memory of its body.',
  }),
  'http.requestTimeoutMs': define({
    kind: integer(1, HOUR_MS, 'milliseconds'),
    default: 30_000,
    description:
      'Maximum time for a client to send its whole request. Raise it if slow clients send large bodies. A slow request is ended at most a tenth later, or a second later if that is more.',
  }),
  'http.answerBytesPerSecondMin': define({
    kind: integer(0, 1_000_000_000, 'bytes a second'),
    default: 131_072,
    description:
      'Minimum rate at which a caller must read an answer while Odoo has more to send. A slow caller occupies an Odoo worker. Its connection is closed once it is 1.25 MiB behind: at the default, after ten seconds without reading. 0 disables the check.',
  }),
  'http.shutdownGraceMs': define({
    kind: integer(0, HOUR_MS, 'milliseconds'),
    default: 10_000,
    description:
      'Time for running calls to finish after SIGTERM, SIGINT or SIGHUP. Calls that take longer are cut off. Keep it shorter than the time after which your supervisor kills the process.',
  }),
  'http.trustProxy': define({
    kind: list('IP addresses or CIDRs with a prefix of at least 1', isAddressOrCidr),
    default: [],
    description:
      'Reverse proxies whose `x-forwarded-for` is trusted for the address of a client. List only your own: a listed machine can claim any address.',
  }),
  'http.publicUrl': define({
    kind: optional(text('an http or https URL without query, such as https://erp.example.com', isPublicUrl)),
    default: null,
    description:
      'Address under which callers reach the proxy. Needed for tokens ([tokens.md](tokens.md)), whose callers learn from it where to get one. Links of `erp-proxy console` begin with it, and `/openapi.json` names it. Needed for the console below a path of a reverse proxy ([deployment.md](deployment.md#below-a-path)).',
  }),
  workers: define({
    kind: integer(1, 128, 'processes'),
    default: 1,
    description:
      'Number of processes that share the port. One process serves thousands of calls a second. For more, set the number of processor cores. Several processes need a `store.url` that they can share, so not `memory:`.',
  }),
  'store.url': define({
    kind: text(joinAlternatives(STORE_ENGINES.map(({ form }) => form)), (url) =>
      STORE_ENGINES.some(({ setting }) => setting.test(url)),
    ),
    default: 'sqlite:./data/erp-proxy.db',
    secret: 'in part',
    description: `Store of client keys, instances and the audit. ${STORE_ENGINES.map(({ description }) => description).join(' ')}`,
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
      'Redis or Valkey server through which all processes share limits of keys. If empty, each process enforces its share of the limits. `idempotency.store` and `cache.store` can use it too.',
  }),
  'keys.hashSecret': define({
    kind: optional(text('a text of at least 32 characters', (secret) => secret.length >= 32)),
    default: null,
    secret: true,
    description:
      'Secret under which client keys are hashed. If empty, one is generated at the first start and kept in the store. Set it to keep it apart from the store. Changing it makes every key unknown.',
  }),
  'keys.expiryNoticeDays': define({
    kind: integer(0, 365, 'days'),
    default: 14,
    description:
      'Days before its end from which a client key is reported as expiring, in the log, the metrics and `/readyz`. The log reports it again three days before, and at its end. 0 disables these notices.',
  }),
  'auth.issuers': define({
    kind: entries('identity providers, as docs/tokens.md describes them'),
    default: [],
    description:
      'Identity providers whose tokens are accepted beside client keys, and which policy a token gets: see [tokens.md](tokens.md). If empty, only client keys are accepted.',
  }),
  'auth.policies': define({
    kind: named('a policy, as docs/policies.md describes it'),
    default: {},
    description: 'Policies that rules of `auth.issuers` can name.',
  }),
  'vault.masterKey': define({
    kind: optional(text('32 random bytes in base64', isMasterKey)),
    default: null,
    secret: true,
    description:
      'Master key that seals the keys of stored instances: 32 random bytes in base64, as `openssl rand -base64 32` prints them. If empty, instances cannot be stored. If it is lost, the stored keys are lost.',
  }),
  'vault.otherMasterKeys': define({
    kind: list('master keys: 32 random bytes in base64 each', isMasterKey),
    default: [],
    secret: true,
    description:
      'Additional master keys that can open sealed keys. To change the master key, add the new one here on every replica, then swap the two. The next start reseals what is under the old one, which can then be removed.',
  }),
  'admin.token': define({
    kind: optional(text('a text of at least 32 characters', (secret) => secret.length >= 32)),
    default: null,
    secret: true,
    description:
      'Bearer token of the admin API (`/admin/v1`). If it and `operators.issuer` are empty, the admin API is off, and keys are managed with the commands on this machine.',
  }),
  'operators.issuer': define({
    kind: optional(text('an https URL without user, query and fragment', isIssuerUrl)),
    default: null,
    description:
      'Identity provider by which operators sign in to the console with OpenID Connect, as in its configuration ([operators.md](operators.md)). Needs the settings `operators.clientId`, `operators.clientSecret`, `operators.rules` and `http.publicUrl`. If empty, only `admin.token` signs in.',
  }),
  'operators.name': define({
    kind: text('1 to 32 lower-case letters, digits and "-", such as corp', (name) =>
      /^[a-z0-9][a-z0-9-]{0,31}$/.test(name),
    ),
    default: 'sso',
    description:
      'Short name of this provider: the id of each operator begins with it, and the sign-in page shows it.',
  }),
  'operators.clientId': define({
    kind: optional(text('a text', (id) => id.trim() !== '')),
    default: null,
    description: 'Client id under which the proxy is registered with the provider.',
  }),
  'operators.clientSecret': define({
    kind: optional(text('a text', (secret) => secret !== '')),
    default: null,
    secret: true,
    description: 'Secret of this client.',
  }),
  'operators.scopes': define({
    kind: list('scopes', (scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)),
    default: ['openid', 'profile', 'email'],
    description:
      'Scopes that the proxy asks for. Must have `openid`. Some providers issue a refresh token only with `offline_access`.',
  }),
  'operators.sessionMinutes': define({
    kind: integer(5, 480, 'minutes'),
    default: 60,
    description:
      'Number of minutes after which the provider is asked again whether the operator may go on, and in which role. If the provider has issued no refresh token, the session ends then.',
  }),
  'operators.tokenDays': define({
    kind: integer(1, 3650, 'days'),
    default: 30,
    description:
      'Number of days after a sign-in, or after the provider was asked again, for which the personal tokens of the person work.',
  }),
  'operators.rules': define({
    kind: entries('rules, as docs/operators.md describes them'),
    default: [],
    description:
      'Rules that give a role by the claims of the id token. The first that matches decides. An account that no rule matches cannot sign in.',
  }),
  'operators.allowPrivate': define({
    kind: boolean(),
    default: false,
    description:
      'True: the provider may have a private address or plain http. An entry in `egress.allow` would also allow calls to it.',
  }),
  'operators.certificates': define({
    kind: optional(text('certificates in PEM', (pem) => pem.trim() !== '')),
    default: null,
    description: 'Certificates that replace the public ones for the provider.',
  }),
  'signIn.providers': define({
    kind: list('names of providers, at most one', (name) => /^[a-z0-9][a-z0-9-]{0,31}$/.test(name)),
    default: [],
    description:
      'The identity provider by which persons sign in for an application, such as an assistant, that knows only the address of the proxy: see [sign-in.md](sign-in.md). One name is possible, that of `operators.name`, where the proxy is registered. It must also be that of an entry in `auth.issuers`, whose rules give the policies. If this and `signIn.odoo` are empty, applications need a key or a token.',
  }),
  'signIn.odoo': define({
    kind: list('names of instances', (name) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)),
    default: [],
    description:
      'Instances with the identity `person` by which persons sign in for an application with their login and API key of Odoo. For firms without an identity provider. Needs `signIn.odooPolicy`.',
  }),
  'signIn.odooPolicy': define({
    kind: optional(text('the name of a policy in `auth.policies`', (name) => name.trim() !== '')),
    default: null,
    description: 'Policy of the persons who sign in by `signIn.odoo`, on top of their rights in Odoo.',
  }),
  'signIn.days': define({
    kind: integer(1, 365, 'days'),
    default: 30,
    description: 'Number of days after which a person must sign in for an application again.',
  }),
  'console.enabled': define({
    kind: boolean(),
    default: true,
    description:
      'Serves the console, a web page at `/` for administrators, who sign in by the provider of `operators.issuer`, with `admin.token` or a link of `erp-proxy console`.',
  }),
  'audit.retentionDays': define({
    kind: integer(0, 3650, 'days'),
    default: 90,
    description: 'Number of days for which audit records are kept. 0 keeps them for ever.',
  }),
  'audit.sink': define({
    kind: choice('none', 'file', 'otlp'),
    default: 'none',
    description:
      'Where the audit is also sent, continuously and in order ([audit.md](audit.md#sinks)): `file` appends to `audit.sinkPath`, `otlp` sends to the collector of `otel.endpoint`.',
  }),
  'audit.sinkPath': define({
    kind: optional(text('the path of a file', (path) => path.trim() !== '' && !path.includes('\0'))),
    default: null,
    description:
      'File to which `audit.sink: file` appends, such as `/var/log/erp-proxy/audit.ndjson`. It is created if missing, and opened again after it was renamed.',
  }),
  'approvals.decideHours': define({
    kind: integer(1, 720, 'hours'),
    default: 24,
    description:
      'Number of hours for which a call waits for the decision of an administrator, if its policy asks for one ([approvals.md](approvals.md)). A refusal holds as long.',
  }),
  'approvals.useMinutes': define({
    kind: integer(1, 43_200, 'minutes'),
    default: 60,
    description: 'Number of minutes after its approval within which a call can be sent.',
  }),
  'approvals.callBytesMax': define({
    // The arguments are sealed in one piece, which must not block the event loop.
    kind: bytes(MIB),
    default: 64 * KIB,
    description:
      'Maximum size of the arguments of a call that needs an approval. A larger call is denied. The arguments are stored until the call is decided and its time is over.',
  }),
  'approvals.clientMax': define({
    kind: integer(1, 100_000),
    default: 20,
    description:
      'Maximum number of calls of one client that wait for a decision. Beyond it, calls that need an approval are refused with `rate_limited`.',
  }),
  'approvals.totalMax': define({
    kind: integer(1, 100_000),
    default: 1000,
    description: 'The same for all clients together.',
  }),
  'approvals.fourEyes': define({
    kind: boolean(),
    default: false,
    description:
      'True: nobody approves a call of a key that they made, a call that they made in the console, or a call of their own identity ([approvals.md](approvals.md#four-eyes)).',
  }),
  'idempotency.keptHours': define({
    kind: integer(1, 720, 'hours'),
    default: 24,
    description:
      'Number of hours for which the answer to a call with an `idempotency-key` is kept and repeated to retries.',
  }),
  'idempotency.answerBytesMax': define({
    kind: bytes(16 * MIB),
    default: 256 * KIB,
    description:
      'Maximum size of an answer that is kept. If the answer to a write is larger, a retry learns only that the write has run. A read is run again.',
  }),
  'idempotency.clientKeysMax': define({
    kind: integer(1, 100_000_000),
    default: 100_000,
    description:
      'Maximum number of idempotency keys of one client key. Beyond it, calls with a new idempotency key are refused with `rate_limited`. Each takes about 500 bytes, or 1 KiB in Redis, plus its answer.',
  }),
  'idempotency.clientBytesMax': define({
    kind: bytes(1024 * GIB),
    default: 64 * MIB,
    description:
      'Maximum total size of the answers kept for one client key. Beyond it, further answers are treated as too large to keep.',
  }),
  'idempotency.store': define({
    kind: choice('store', 'redis'),
    default: 'store',
    description:
      'Place of idempotency keys: `store` uses `store.url`, `redis` uses `redis.url`. If Redis loses its data, calls can run twice. See [idempotency.md](idempotency.md) for the Redis settings that are needed.',
  }),
  'cache.bytesMax': define({
    kind: bytes(16 * 1024 * MIB, 0),
    default: 64 * MIB,
    description:
      'Memory for kept answers to reads, for callers that accept older answers (`cache-control: max-age`). It applies to each process, or to Redis as a whole. 0 disables kept answers.',
  }),
  'cache.store': define({
    kind: choice('memory', 'redis'),
    default: 'memory',
    description:
      'Place of kept answers: `memory` keeps them in each process, `redis` keeps them sealed for all processes and needs `redis.url`.',
  }),
  'changes.overlapSeconds': define({
    kind: integer(1, 86_400, 'seconds'),
    default: 900,
    description:
      'How long a transaction in Odoo may last so that its changes are not missed, together with the difference between the clocks of the web server and the database, and with the delay of a replica that Odoo reads from. See [changes.md](changes.md).',
  }),
  'changes.deletedIdsMax': define({
    kind: integer(1000, 100_000),
    default: 10_000,
    description:
      'Maximum number of ids that one request for changes with `deleted` compares. It is the cost of a request: ten thousand ids have about 80 KB. See [changes.md](changes.md#deleted-records).',
  }),
  'data.requestsMax': define({
    kind: integer(1, 10_000),
    default: 32,
    description:
      'Maximum number of exports that a process runs at once, and the same of requests for changes, for documents and for many instances. Further ones get `overloaded` with `retry-after`. Each can need 16 MiB of memory, and a document 48 MiB.',
  }),
  'data.clientRequestsMax': define({
    kind: integer(1, 10_000),
    default: 8,
    description:
      'The part of `data.requestsMax` that one client may use in a process. Further requests of the client get `rate_limited` with `retry-after`. `concurrency` of a policy bounds its keys further.',
  }),
  'fleet.concurrency': define({
    kind: integer(2, 10_000),
    default: 128,
    description:
      'Maximum number of calls that a process runs at once for requests for many instances. One request may use half of them. Each can need 1 MiB of memory. See [fleet.md](fleet.md).',
  }),
  'jobs.secondsMax': define({
    kind: integer(1, 86_400, 'seconds'),
    default: 3600,
    description:
      'Maximum time that a job runs ([jobs.md](jobs.md)). The time in which it waits does not count.',
  }),
  'jobs.bytesMax': define({
    kind: bytes(64 * GIB),
    default: GIB,
    description: 'Maximum size of the result of a job. The store keeps it, sealed.',
  }),
  'jobs.totalBytesMax': define({
    kind: bytes(1024 * GIB),
    default: 8 * GIB,
    description:
      'Maximum size of the bodies and results of all jobs together. Beyond it, no job is accepted, and jobs that run fail.',
  }),
  'jobs.keepHours': define({
    kind: integer(1, 720, 'hours'),
    default: 24,
    description: 'Number of hours for which a job and its result are kept after its end.',
  }),
  'jobs.clientMax': define({
    kind: integer(1, 1_000_000),
    default: 1000,
    description:
      'Maximum number of jobs of one client, ended ones included. Beyond it, jobs are refused with `rate_limited`.',
  }),
  'jobs.waitingMax': define({
    kind: integer(1, 1_000_000),
    default: 10_000,
    description:
      'Maximum number of jobs of all clients that have not ended. Beyond it, jobs are refused with `overloaded`.',
  }),
  'jobs.concurrency': define({
    kind: integer(1, 1000),
    default: 8,
    description:
      'Maximum number of jobs that a process runs at once. Each needs as much memory as an export or a call.',
  }),
  'jobs.clientConcurrency': define({
    kind: integer(1, 1000),
    default: 2,
    description: 'Maximum number of jobs of one client that run at once, in all processes together.',
  }),
  'egress.allow': define({
    kind: list('origins, hosts or CIDRs', (entry) => entry.trim() !== ''),
    default: [],
    description:
      'Origins, hosts or CIDRs of Odoo servers that may be private or plain http, such as `http://odoo.internal:8069` or `10.1.0.0/16`. If empty, only public addresses over https are allowed. Ports that browsers block, such as 1, 22 or 6000, need an entry that names the port.',
  }),
  'subscriptions.retentionDays': define({
    kind: integer(1, 365, 'days'),
    default: 7,
    description:
      'Number of days for which ended deliveries of subscriptions are kept, with their content. They can be listed and replayed for this time. See [webhooks.md](webhooks.md).',
  }),
  'subscriptions.deliveriesMax': define({
    kind: integer(0, 1_000_000),
    default: 10_000,
    description:
      'Maximum number of ended deliveries that are kept for one subscription. The oldest are removed first.',
  }),
  'upstream.concurrency': define({
    kind: integer(1, 100_000, 'calls'),
    default: 64,
    description:
      'Maximum number of concurrent calls to one Odoo database, divided among all processes with at least one each. Below it the limit adapts: it rises while answers stay fast, and is halved on time-outs, 429 and 503. An instance can have a bound of its own.',
  }),
  'upstream.concurrencyMin': define({
    kind: integer(1, 100_000, 'calls'),
    default: 2,
    description:
      'Minimum of the adaptive concurrency limit of one Odoo database, divided like `upstream.concurrency`. If both are equal, the limit is fixed.',
  }),
  'upstream.queue': define({
    kind: integer(0, 100_000, 'calls'),
    default: 1000,
    description:
      'Maximum number of calls that wait for one Odoo database, divided like `upstream.concurrency`. Permits are granted fairly among keys. Excess calls are refused with `overloaded`, starting with the key that has the most waiting calls.',
  }),
  'upstream.retries': define({
    kind: integer(0, 10),
    default: 2,
    description:
      'Maximum number of times that a call is sent to Odoo again. A read is retried on a lost connection, 502, 503 or 504. Any call is retried if Odoo rolled it back because of another transaction. 0 disables retries.',
  }),
  'upstream.protocol': define({
    kind: choice('auto', 'jsonrpc', 'json2'),
    default: 'auto',
    description:
      'Protocol to Odoo servers. `auto` uses `/json/2` from Odoo 19 on if the outcome is certain to be the same, otherwise `/jsonrpc`. Set one of the others if a reverse proxy allows only that one.',
  }),
  'upstream.protocolFor': define({
    kind: list('origins with a protocol, such as https://erp.example.com=jsonrpc', (entry) =>
      PROTOCOL_FOR.test(entry),
    ),
    default: [],
    description:
      'Exceptions from `upstream.protocol` for single servers: an origin, `=`, and `auto`, `jsonrpc` or `json2`, such as `https://erp.example.com=jsonrpc`.',
  }),
  'upstream.timeoutMs': define({
    kind: integer(1, 300_000, 'milliseconds'),
    default: 15_000,
    description:
      'Time limit of a call, up to the last byte of its answer, if the caller sends no `x-request-timeout`. Raise it if reports or imports take longer.',
  }),
  'upstream.connectTimeoutMs': define({
    kind: integer(1, 300_000, 'milliseconds'),
    default: 5000,
    description:
      'Time limit for resolving the name of an Odoo server, connecting and the TLS handshake. The time limit of the call also applies.',
  }),
  'upstream.firstByteTimeoutMs': define({
    kind: optional(integer(1, 300_000, 'milliseconds')),
    default: null,
    description:
      "Time limit from the request to the head of Odoo's answer. If empty, only the time limit of the call applies. Set it to give up on a busy server earlier.",
  }),
  'upstream.answerBytesMax': define({
    kind: bytes(256 * MIB),
    default: 8 * MIB,
    description:
      'Maximum size of an Odoo answer that must be read completely before it is passed on, such as an error. Streamed results have no limit.',
  }),
  'upstream.refusedCredentialsTtlMs': define({
    kind: integer(0, HOUR_MS, 'milliseconds'),
    default: 10_000,
    description:
      'Time for which credentials that Odoo refused are refused without asking again. Each check costs Odoo a third of a second. 0 disables this, and also the limits on new credentials that keep Odoo 14 and 15 from locking the proxy out (docs/protection.md).',
  }),
  'batch.concurrency': define({
    kind: integer(1, 100, 'calls'),
    default: 8,
    description:
      'Maximum number of concurrent calls of one batch. Lower it if one batch occupies all workers of an Odoo server.',
  }),
  'errors.debug': define({
    kind: boolean(),
    default: false,
    description:
      "Includes Odoo's traceback in errors, as `data.debug`. It shows callers paths and code of the server, so use it only for development.",
  }),
  'otel.enabled': define({
    kind: boolean(),
    default: true,
    description: 'False: nothing is sent to the collector, even if `otel.endpoint` is set.',
    standardVariables: [
      { name: 'OTEL_SDK_DISABLED', convert: (text) => (text.toLowerCase() === 'true' ? 'false' : null) },
    ],
  }),
  'otel.traces': define({
    kind: boolean(),
    default: true,
    description: 'Sends traces to the collector ([tracing.md](tracing.md)).',
    standardVariables: [{ name: 'OTEL_TRACES_EXPORTER', convert: readExporter }],
  }),
  'otel.logs': define({
    kind: boolean(),
    default: false,
    description:
      'Sends the lines of the log to the collector, too, to `/v1/logs` ([tracing.md](tracing.md#logs-and-metrics)).',
    standardVariables: [{ name: 'OTEL_LOGS_EXPORTER', convert: readExporter }],
  }),
  'otel.metrics': define({
    kind: boolean(),
    default: false,
    description:
      'Sends the metrics of `/metrics` to the collector every minute, to `/v1/metrics` ([tracing.md](tracing.md#logs-and-metrics)).',
    standardVariables: [{ name: 'OTEL_METRICS_EXPORTER', convert: readExporter }],
  }),
  'otel.endpoint': define({
    kind: optional(text('an http or https URL without query, such as http://localhost:4318', isCollectorUrl)),
    default: null,
    description:
      'Collector that receives traces, logs and metrics by OTLP over HTTP ([tracing.md](tracing.md)). If the URL has no path, `/v1/traces` is added. Logs and metrics go to `/v1/logs` and `/v1/metrics` in place of `/v1/traces`. If empty, nothing is sent. The address need not be in `egress.allow`.',
    standardVariables: [
      { name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' },
      {
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        convert: (text) => `${text.replace(/\/$/, '')}/v1/traces`,
      },
    ],
  }),
  'otel.headers': define({
    kind: list('headers: name=value, with %-escapes in the value', isNameWithValue),
    default: [],
    secret: true,
    description: 'Headers of each request to the collector, such as `authorization=Bearer%20…`.',
    standardVariables: [
      { name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS' },
      { name: 'OTEL_EXPORTER_OTLP_HEADERS' },
    ],
  }),
  'otel.protocol': define({
    kind: choice('http/protobuf', 'http/json'),
    default: 'http/protobuf',
    description: 'Encoding of what is sent. Set `http/json` only if a collector needs it.',
    standardVariables: [
      { name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL' },
      { name: 'OTEL_EXPORTER_OTLP_PROTOCOL' },
    ],
  }),
  'otel.compression': define({
    kind: choice('none', 'gzip'),
    default: 'none',
    description: 'Compression of requests to the collector.',
    standardVariables: [
      { name: 'OTEL_EXPORTER_OTLP_TRACES_COMPRESSION' },
      { name: 'OTEL_EXPORTER_OTLP_COMPRESSION' },
    ],
  }),
  'otel.timeoutMs': define({
    kind: integer(1, 60_000, 'milliseconds'),
    default: 10_000,
    description: 'Time limit of an export, with its retries. After it, what it has is lost.',
    standardVariables: [
      { name: 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT' },
      { name: 'OTEL_EXPORTER_OTLP_TIMEOUT' },
    ],
  }),
  'otel.serviceName': define({
    kind: optional(text('a text', (name) => name.trim() !== '')),
    default: null,
    description:
      'Name of this service for the collector. If empty, `service.name` of `otel.resourceAttributes`, or else `erp-proxy`.',
    standardVariables: [{ name: 'OTEL_SERVICE_NAME' }],
  }),
  'otel.resourceAttributes': define({
    kind: list('attributes: name=value, with %-escapes in the value', isNameWithValue),
    default: [],
    description:
      'Attributes of this service for the collector, such as `deployment.environment.name=production`.',
    standardVariables: [{ name: 'OTEL_RESOURCE_ATTRIBUTES' }],
  }),
  'otel.sampler': define({
    kind: choice(
      'parentbased_traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'traceidratio',
      'always_on',
      'always_off',
    ),
    default: 'parentbased_traceidratio',
    description:
      'Decides which traces are recorded. With `parentbased_…`, the `traceparent` of the caller decides if there is one. `…traceidratio` records `otel.sampleRatio` of the others.',
    standardVariables: [{ name: 'OTEL_TRACES_SAMPLER' }],
  }),
  'otel.sampleRatio': define({
    kind: fraction(),
    default: 1,
    description: 'Share of traces that `…traceidratio` records, from 0 to 1.',
    standardVariables: [{ name: 'OTEL_TRACES_SAMPLER_ARG' }],
  }),
  'log.level': define({
    kind: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    description: 'Minimum severity of logged lines.',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
type SettingValue<Name extends SettingName> = (typeof SETTINGS)[Name]['default'];

type GroupOf<Name extends SettingName> = Name extends `${infer Group}.${string}` ? Group : never;

/** Read-only values: `settings.http.port` and so on, and `settings.workers`, which has no group. */
export type Settings = {
  readonly [Group in GroupOf<SettingName>]: {
    readonly [Name in SettingName as Name extends `${Group}.${infer Key}` ? Key : never]: SettingValue<Name>;
  };
} & {
  readonly [Name in Exclude<SettingName, `${string}.${string}`>]: SettingValue<Name>;
};

/** Widens the type of the default to the type of the kind: `number`, not `8787`. */
function define<Value>(setting: Setting<Value>): Setting<Value> {
  return setting;
}
