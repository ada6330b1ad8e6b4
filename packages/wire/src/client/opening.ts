/**
 * Opens one connection to a destination: asks its guard for the addresses, dials only those that the guard allows and,
 * with https, shakes hands; all under one deadline. The guard is asked here because here is the address that bytes will
 * really go to. It knows nothing of HTTP.
 */
import { isIP, type LookupFunction, Socket, type TcpSocketConnectOpts } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { atTurnEnd } from '../turn-end.ts';
import type { Destination } from './destination.ts';
import type { FailureReason } from './messages.ts';
import { ReusableSocket, type SocketUser } from './reusable-socket.ts';

/** Why no connection was made. No byte of a request was sent. */
export class OpeningError extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

type Done = (outcome: ReusableSocket | OpeningError) => void;

export class Opening implements SocketUser {
  readonly #target: Destination['target'];
  readonly #destination: Destination;
  /** Whom it serves. */
  readonly #owner: string | null;
  readonly #timer: NodeJS.Timeout;
  /** Null after the end. */
  #done: Done | null;
  /** With https, the socket below TLS, and then the TLS socket. */
  #socket: ReusableSocket | Socket | null = null;
  /** True if only one address is dialled, so that no other one can be reached. */
  #isReachedKnown = false;

  constructor(destination: Destination, owner: string | null, done: Done) {
    const { target, dialer } = destination;
    this.#target = target;
    this.#destination = destination;
    this.#owner = owner;
    this.#done = done;
    this.#timer = setTimeout(() => {
      this.#fail('connect_timeout', `no connection to ${target.host} within ${dialer.connectTimeoutMs} ms`);
    }, dialer.connectTimeoutMs);
    this.#resolve();
  }

  /** Stops. `done` is not called afterwards. */
  cancel(): void {
    if (this.#end() !== null) this.#socket?.destroy();
  }

  #resolve(): void {
    const { host } = this.#target;
    const answer = this.#destination.guard.findAddresses();
    if (!(answer instanceof Promise)) {
      this.#check(answer);
      return;
    }
    answer.then(
      (addresses) => this.#check(addresses),
      (error: unknown) =>
        this.#fail(isExhausted(error) ? 'exhausted' : 'unresolved', `${host}: ${describeError(error)}`),
    );
  }

  /** One denied address refuses all of them: a mixed answer is a sign of a DNS rebinding attack. */
  #check(addresses: readonly string[]): void {
    if (this.#done === null) return;
    if (addresses.length === 0) {
      this.#fail('unresolved', `${this.#target.host} has no address`);
      return;
    }
    for (const address of addresses) {
      const denial = this.#destination.guard.check(address);
      if (denial !== null) {
        this.#fail('denied', denial.detail);
        return;
      }
    }
    this.#dial(addresses);
  }

  #dial(addresses: readonly string[]): void {
    const { host, port, secure } = this.#target;
    const [first = ''] = addresses;
    // Node connects to an address as it is, and resolves any other text.
    this.#isReachedKnown = addresses.length === 1 && isIP(first) !== 0;
    const options: TcpSocketConnectOpts = this.#isReachedKnown
      ? { port, host: first }
      : { port, host, autoSelectFamily: true, lookup: makeLookup(addresses) };
    // At the end of this turn of the event loop: connections that are opened together wake the server only once.
    atTurnEnd('connect', this.#owner, () => {
      if (this.#done === null) return;
      if (secure) this.#dialBelowTls(options);
      else this.#dialPlain(options);
    });
  }

  #dialPlain(options: TcpSocketConnectOpts): void {
    const socket = this.#destination.dialer.closedSockets.take();
    this.#socket = socket;
    socket.connect(options, this);
  }

  onConnect(): void {
    const socket = this.#socket as ReusableSocket;
    if (this.#mayUse(socket)) this.#succeed(socket);
  }

  onBytes(): void {}

  onEnd(): void {}

  onError(error: Error): void {
    this.#fail(classifyError(error), `${this.#target.host}: ${describeError(error)}`);
  }

  onClose(): void {
    this.#fail('refused', `${this.#target.host}: closed at once`);
  }

  /** Checks the address that was reached, if there were several. */
  #mayUse(socket: ReusableSocket | Socket): boolean {
    if (this.#isReachedKnown) return true;
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) {
      this.onClose();
      return false;
    }
    const denial = this.#destination.guard.check(remoteAddress);
    if (denial !== null) this.#fail('denied', denial.detail);
    return denial === null;
  }

  #dialBelowTls(options: TcpSocketConnectOpts): void {
    const socket = new Socket({ noDelay: true });
    this.#socket = socket;
    // Stays for the life of the socket: an error event without a listener would end the process.
    socket.on('error', (error) => this.onError(error));
    socket.on('connect', () => {
      if (this.#mayUse(socket)) this.#shakeHands(socket);
    });
    socket.connect(options);
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
        secureContext: this.#destination.secureContext(),
        ALPNProtocols: ['http/1.1'],
        ...(this.#destination.session === null ? null : { session: this.#destination.session }),
      });
    } catch (error) {
      this.#fail(isExhausted(error) ? 'exhausted' : 'tls', describeError(error));
      return;
    }
    this.#socket = secured;
    secured.on('error', (error) => this.#fail('tls', `${host}: ${describeError(error)}`));
    secured.once('close', () => this.#fail('tls', `${host}: closed during the handshake`));
    secured.on('session', (session) => {
      this.#destination.session = session;
    });
    secured.once('secureConnect', () => this.#succeed(new ReusableSocket(secured, null)));
  }

  #succeed(socket: ReusableSocket): void {
    this.#end()?.(socket);
  }

  #fail(reason: FailureReason, detail: string): void {
    const done = this.#end();
    if (done === null) return;
    this.#socket?.destroy();
    done(new OpeningError(reason, detail));
  }

  /** Returns what is to be called; null if the opening has ended already. */
  #end(): Done | null {
    const done = this.#done;
    this.#done = null;
    clearTimeout(this.#timer);
    return done;
  }
}

/** Lets node:net try the allowed addresses of both families (RFC 8305), and no others. */
function makeLookup(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, _options, callback) => callback(null, answers);
}

function classifyError(error: Error): FailureReason {
  if (isExhausted(error)) return 'exhausted';
  return readCode(error) === 'ETIMEDOUT' ? 'connect_timeout' : 'refused';
}

/** True if the cause is a lack of this machine. If several addresses were dialled, it is that of each. */
function isExhausted(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isExhausted);
  return EXHAUSTED.has(readCode(error) ?? '') || isWithoutPort(error);
}

/** All local ports are taken. Without IPv6 on this machine, its addresses give the same code. */
function isWithoutPort(error: unknown): boolean {
  if (readCode(error) !== 'EADDRNOTAVAIL') return false;
  const { address } = error as NodeJS.ErrnoException & { address?: string };
  return isIP(address ?? '') === 4 || hasIpv6();
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'));
}

const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

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
