/**
 * A process that simulates an Odoo with a number of workers. While all of them are busy, further calls wait, as in the
 * backlog of Odoo's socket.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { readMessage } from './http-message.ts';

const BODY = '{"jsonrpc": "2.0", "id": 1, "result": [{"id": 1, "name": "Azure Interior"}]}';
const ANSWER = `HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\nConnection: close\r\n\r\n${BODY}`;

if (process.send !== undefined) await serve(Number(process.argv[2]), Number(process.argv[3]));

async function serve(workers: number, workMs: number): Promise<void> {
  const waiting: Socket[] = [];
  let working = 0;
  const work = () => {
    for (const socket of waiting.splice(0, workers - working)) {
      working++;
      // Like a worker of Odoo, it completes the call even if the caller has left.
      setTimeout(() => {
        working--;
        socket.end(ANSWER);
        work();
      }, workMs);
    }
  };
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    readMessage(socket, () => {
      waiting.push(socket);
      work();
    });
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  process.on('disconnect', () => process.exit());
  process.send?.((server.address() as AddressInfo).port);
}
