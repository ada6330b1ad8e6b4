/**
 * A process that sends calls at a fixed rate, whether or not the earlier ones are answered. It counts their results for
 * each second, and gets its jobs by message.
 */
import { connect, type Socket } from 'node:net';
import { readMessage } from './http-message.ts';

export interface SteadyJob {
  port: number;
  request: Buffer;
  perSecond: number;
  seconds: number;
  /** Maximum number of open connections. If all are busy, a call is not sent. */
  connectionsMax: number;
  /** How long a caller waits before it closes its connection, in milliseconds. */
  patienceMs: number;
}

export interface SteadyResult {
  /** Answered calls, for each second in which their answers arrived. */
  answered: number[];
  offered: number;
  /** Number of refusals for each status. */
  refused: Record<string, number>;
  refusedP50Ms: number;
  refusedP99Ms: number;
  answeredP50Ms: number;
  answeredP99Ms: number;
  /** Calls without an answer in time, or whose connection broke. */
  lost: number;
  /** Calls that were not sent, because all connections were busy. */
  unsent: number;
}

const TICK_MS = 5;

if (process.send !== undefined) {
  process.on('message', (job: SteadyJob) => {
    run(job).then((result) => process.send?.(result));
  });
  process.on('disconnect', () => process.exit());
  process.send('ready');
}

async function run({
  port,
  request,
  perSecond,
  seconds,
  connectionsMax,
  patienceMs,
}: SteadyJob): Promise<SteadyResult> {
  const startedMs = performance.now();
  const answered: number[] = Array(seconds).fill(0);
  const refused: Record<string, number> = {};
  const answeredMs: number[] = [];
  const refusedMs: number[] = [];
  const free: Socket[] = [];
  let offered = 0;
  let open = 0;
  let lost = 0;
  let unsent = 0;

  function call(): void {
    offered++;
    const socket = free.pop() ?? (open < connectionsMax ? openSocket() : null);
    if (socket === null) {
      unsent++;
      return;
    }
    const sentMs = performance.now();
    const timer = setTimeout(() => fail(), patienceMs);
    const fail = () => {
      end();
      lost++;
      socket.destroy();
    };
    const end = () => {
      clearTimeout(timer);
      socket.removeAllListeners('data');
      socket.removeAllListeners('lost');
    };
    socket.once('lost', fail);
    readMessage(socket, (head) => {
      end();
      const nowMs = performance.now();
      const status = head.slice(9, 12);
      if (status === '200') {
        const second = Math.floor((nowMs - startedMs) / 1000);
        if (second < seconds) answered[second] = (answered[second] ?? 0) + 1;
        answeredMs.push(nowMs - sentMs);
      } else {
        refused[status] = (refused[status] ?? 0) + 1;
        refusedMs.push(nowMs - sentMs);
      }
      if (/\r\nconnection: *close/i.test(head)) socket.destroy();
      else free.push(socket);
    });
    socket.write(request);
  }

  function openSocket(): Socket {
    open++;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {});
    socket.on('close', () => {
      open--;
      const index = free.indexOf(socket);
      if (index >= 0) free.splice(index, 1);
      socket.emit('lost');
    });
    return socket;
  }

  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedSeconds = Math.min((performance.now() - startedMs) / 1000, seconds);
      while (offered < elapsedSeconds * perSecond) call();
      if (elapsedSeconds < seconds) return;
      clearInterval(timer);
      setTimeout(resolve, patienceMs + 100);
    }, TICK_MS);
  });
  for (const socket of free) socket.destroy();
  return {
    answered,
    offered,
    refused,
    refusedP50Ms: findQuantile(refusedMs, 0.5),
    refusedP99Ms: findQuantile(refusedMs, 0.99),
    answeredP50Ms: findQuantile(answeredMs, 0.5),
    answeredP99Ms: findQuantile(answeredMs, 0.99),
    lost,
    unsent,
  };
}

function findQuantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
