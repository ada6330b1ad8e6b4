/** For tests: a TCP proxy in front of a server that can break, freeze, lose and delay connections. */
import { connect, createServer, type Socket } from 'node:net';
import { listenOnFreePort } from './listen.ts';
import { runLater } from './time.ts';

export interface Wire {
  /** The URL of the server through this proxy. */
  url: string;
  /** Breaks all connections, and refuses new ones. */
  cut(): void;
  /** Holds back all bytes, but keeps connections open. */
  freeze(): void;
  /** Drops all bytes of the present connections, but keeps them open. New connections work. */
  lose(): void;
  /** Delays all bytes. */
  delay(ms: number): void;
  /** Restores normal operation, and delivers the bytes that were held back. */
  restore(): void;
  close(): Promise<void>;
}

/** `target`: URL of the server, with its port. */
export async function createWire(target: string): Promise<Wire> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const lost = new WeakSet<Socket>();
  /** Deliveries of bytes that are held back, in their order. */
  const held: (() => void)[] = [];
  let state: 'open' | 'cut' | 'frozen' = 'open';
  let delayMs = 0;
  const pass = (to: Socket, bytes: Buffer) => {
    const send = () => void (to.destroyed || lost.has(to) || to.write(bytes));
    if (state !== 'frozen' && delayMs === 0) return send();
    held.push(send);
    if (state !== 'frozen') runLater(delayMs, () => deliverUpTo(send));
  };
  const deliverUpTo = (last: () => void) => {
    if (state === 'frozen') return;
    for (const send of held.splice(0, held.indexOf(last) + 1)) send();
  };
  const server = createServer((near) => {
    if (state === 'cut') return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from);
      from.on('data', (bytes) => pass(to, bytes));
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const cut = () => {
    state = 'cut';
    for (const socket of sockets) socket.destroy();
  };
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(await listenOnFreePort(server));
  return {
    url: url.href,
    cut,
    freeze() {
      state = 'frozen';
    },
    lose() {
      for (const socket of sockets) lost.add(socket);
    },
    delay(ms) {
      delayMs = ms;
    },
    restore() {
      state = 'open';
      delayMs = 0;
      for (const send of held.splice(0)) send();
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
