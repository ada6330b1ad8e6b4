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
  /** Masked wherever settings are shown; may also come from the file that the variable `…_FILE` names. */
  secret?: true;
}

/** An origin without a path, `=`, a protocol. */
const PROTOCOL_FOR = /^https?:\/\/[^/=\s]+=(auto|jsonrpc|json2)$/;
const HOUR_MS = 3_600_000;
const MIB = 1024 ** 2;

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
  'store.url': define({
    kind: text('sqlite:<path of a file> or memory:', (url) => /^(sqlite:.+|memory:)$/.test(url)),
    default: 'sqlite:./data/erp-proxy.db',
    description:
      'Where client keys are kept: `sqlite:` and the path of a file, which is created where it is missing; `memory:` forgets everything at exit.',
  }),
  'keys.hashSecret': define({
    kind: optional(text('a text of at least 32 characters', (secret) => secret.length >= 32)),
    default: null,
    secret: true,
    description:
      'Secret under which client keys are hashed. Empty: one is made at the first start and kept in the store; set it to keep it apart from the store. Changing it makes every key unknown.',
  }),
  'egress.allow': define({
    kind: list('origins, hosts or CIDRs', (entry) => entry.trim() !== ''),
    default: [],
    description:
      'Origins, hosts or CIDRs of Odoo servers that may be private or plain http, such as `http://odoo.internal:8069` or `10.1.0.0/16`. Empty: only public addresses over https are reached.',
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

type GroupName = SettingName extends `${infer Group}.${string}` ? Group : never;

/** `settings.http.port` and so on; read-only. */
export type Settings = {
  readonly [Group in GroupName]: {
    readonly [Name in SettingName as Name extends `${Group}.${infer Key}` ? Key : never]: SettingValue<Name>;
  };
};

/** Fixes the type of the default to that of the kind: `number`, not `8787`. */
function define<Value>(setting: Setting<Value>): Setting<Value> {
  return setting;
}
