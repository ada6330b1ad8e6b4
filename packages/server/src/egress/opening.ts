/**
 * Opens one connection to a target: resolves it, judges every address, dials only judged ones and, with https, shakes
 * hands; all under one deadline. The guard sits here because here is the address that bytes will really go to. It
 * knows nothing of HTTP.
 */
import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import type { EgressFailureReason } from './messages.ts';
import type { LookUpName } from './names.ts';
import type { EgressTarget, JudgeAddress } from './policy.ts';

/** Why no connection was made. No byte of a request was sent. */
export class OpeningError extends Error {
  readonly reason: EgressFailureReason;

  constructor(reason: EgressFailureReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

export interface OpeningOptions {
  lookUp: LookUpName;
  connectTimeoutMs: number;
  /** Called at the first https connection, since reading the certificates takes some time. */
  secureContext: () => SecureContext;
}

/** The server that is dialled, and what its connections share. */
export interface Destination {
  readonly target: EgressTarget;
  readonly judgeAddress: JudgeAddress;
  /** The last TLS session, to be resumed. */
  session: Buffer | null;
}

type Done = (outcome: Socket | OpeningError) => void;

export class Opening {
  readonly #target: EgressTarget;
  readonly #destination: Destination;
  readonly #options: OpeningOptions;
  readonly #onread: OnReadOpts;
  readonly #done: Done;
  readonly #timer: NodeJS.Timeout;
  #socket: Socket | null = null;
  #isOver = false;

  /** `onread` applies to plain connections only: Node ignores it below TLS. */
  constructor(destination: Destination, options: OpeningOptions, onread: OnReadOpts, done: Done) {
    const { target } = destination;
    this.#target = target;
    this.#destination = destination;
    this.#options = options;
    this.#onread = onread;
    this.#done = done;
    this.#timer = setTimeout(() => {
      this.#fail('connect_timeout', `no connection to ${target.host} within ${options.connectTimeoutMs} ms`);
    }, options.connectTimeoutMs);
    this.#resolve();
  }

  /** Stops. `done` is not called afterwards. */
  cancel(): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket?.destroy();
  }

  #resolve(): void {
    const { host, isLiteral } = this.#target;
    const answer = isLiteral ? [host] : this.#options.lookUp(host);
    if (!(answer instanceof Promise)) {
      this.#judge(answer);
      return;
    }
    answer.then(
      (addresses) => this.#judge(addresses),
      (error: unknown) => this.#fail('unresolved', `${host}: ${describeError(error)}`),
    );
  }

  /** One denied address refuses all of them: a mixed answer is a sign of a DNS rebinding attack. */
  #judge(addresses: readonly string[]): void {
    if (this.#isOver) return;
    if (addresses.length === 0) {
      this.#fail('unresolved', `${this.#target.host} has no address`);
      return;
    }
    for (const address of addresses) {
      const denial = this.#destination.judgeAddress(address);
      if (denial !== null) {
        this.#fail('denied', denial.detail);
        return;
      }
    }
    this.#dial(addresses);
  }

  #dial(addresses: readonly string[]): void {
    const { host, port, secure } = this.#target;
    const only = addresses.length === 1 ? addresses[0]! : null;
    const socket = connectTcp({
      port,
      noDelay: true,
      host: only ?? host,
      ...(only === null ? { autoSelectFamily: true, lookup: makeLookup(addresses) } : null),
      ...(secure ? null : { onread: this.#onread }),
    });
    this.#socket = socket;
    // Stays for the life of the socket: an error event without a listener would end the process.
    socket.on('error', (error) => this.#fail(classifyError(error), `${host}: ${describeError(error)}`));
    socket.on('connect', () => {
      const reached = socket.remoteAddress;
      if (reached === undefined) return this.#fail('refused', `${host}: closed at once`);
      const denial = this.#destination.judgeAddress(reached);
      if (denial !== null) return this.#fail('denied', denial.detail);
      if (secure) this.#shakeHands(socket);
      else this.#succeed(socket);
    });
  }

  #shakeHands(socket: Socket): void {
    const { host, isLiteral } = this.#target;
    let secured: TLSSocket;
    try {
      secured = connectTls({
        socket,
        host,
        // RFC 6066 section 3: an address is not a server name. The certificate is then checked against `host`.
        servername: isLiteral ? '' : host,
        secureContext: this.#options.secureContext(),
        ALPNProtocols: ['http/1.1'],
        ...(this.#destination.session === null ? null : { session: this.#destination.session }),
      });
    } catch (error) {
      this.#fail('tls', describeError(error));
      return;
    }
    this.#socket = secured;
    secured.on('error', (error) => this.#fail('tls', `${host}: ${describeError(error)}`));
    secured.once('close', () => this.#fail('tls', `${host}: closed during the handshake`));
    secured.on('session', (session) => {
      this.#destination.session = session;
    });
    secured.once('secureConnect', () => this.#succeed(secured));
  }

  #succeed(socket: Socket): void {
    if (this.#isOver) return;
    this.#end();
    this.#done(socket);
  }

  #fail(reason: EgressFailureReason, detail: string): void {
    if (this.#isOver) return;
    this.#end();
    this.#socket?.destroy();
    this.#done(new OpeningError(reason, detail));
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}

/** Lets node:net try the allowed addresses of both families (RFC 8305), and no others. */
function makeLookup(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, _options, callback) => callback(null, answers);
}

function classifyError(error: Error): EgressFailureReason {
  return readCode(error) === 'ETIMEDOUT' ? 'connect_timeout' : 'refused';
}

function readCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

export function describeError(error: unknown): string {
  const code = readCode(error);
  const text = shortenTlsText(error instanceof Error ? error.message : String(error));
  return code === null || text.includes(code) ? text : `${code} ${text}`;
}

/** Removes the position in the sources of OpenSSL, and the flags that Node suggests. */
function shortenTlsText(text: string): string {
  const raised = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(text);
  if (raised !== null) return raised[1] ?? text;
  return text.replace(/; if the root CA is installed locally,.*$/s, '').trim();
}
