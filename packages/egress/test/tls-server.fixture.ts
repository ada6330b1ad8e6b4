/** A TLS server in a thread of its own: it answers while the thread of the test is blocked. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import { TEST_CERTIFICATE, TEST_KEY } from './test-certificate.ts';

/** `answers`: one number, which each answer increments. */
const { answers, answer } = workerData as { answers: Int32Array; answer: string };
let connections = 0;
const server = createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (socket) => {
  connections++;
  socket.on('error', () => {});
  socket.on('data', () => {
    socket.write(answer, () => {
      Atomics.add(answers, 0, 1);
      Atomics.notify(answers, 0);
    });
  });
});
parentPort!.on('message', () => parentPort!.postMessage(connections));
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port));
