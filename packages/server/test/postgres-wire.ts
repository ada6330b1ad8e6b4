/** A connection to a PostgreSQL server that can be cut at a commit. */
import { connect, createServer, type Socket } from 'node:net';
import { listenOnFreePort } from './listen.ts';

const COMMIT = Buffer.from('COMMIT\0');

export interface Wire {
  url: string;
  /** What happens to the next commit. Afterwards the server is unreachable until `restore` is called. */
  atCommit: 'pass' | 'lose the answer' | 'lose the commit' | 'lose the server';
  restore(): void;
  close(): Promise<void>;
}

export async function createWire(target: URL): Promise<Wire> {
  const sockets = new Set<Socket>();
  let isGone = false;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    if (isGone) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
    }
    far.on('data', (bytes) => near.write(bytes));
    near.on('data', (bytes) => {
      const fate = bytes.includes(COMMIT) ? wire.atCommit : 'pass';
      if (fate !== 'lose the commit') far.write(bytes);
      if (fate === 'pass') return;
      wire.atCommit = 'pass';
      isGone = fate === 'lose the server';
      if (fate === 'lose the commit') return cut();
      // The server has answered, so the commit is done. The answer is not forwarded.
      far.removeAllListeners('data');
      far.once('data', cut);
    });
  });
  const port = await listenOnFreePort(server);
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;
  const wire: Wire = {
    url: url.href,
    atCommit: 'pass',
    restore() {
      isGone = false;
    },
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return wire;
}
