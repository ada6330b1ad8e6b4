/**
 * The load generator, a process of its own. Sends calls on bare sockets: on a fixed number of them, one call after the
 * other on each, or at a fixed rate. It gets its jobs by message, and checks only status and length of each answer.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadTarget {
  port: number;
  /** Complete HTTP requests, sent in turn. */
  requests: Buffer[];
}

export interface LoadJob extends LoadTarget {
  /** Further programs, over which the connections are spread too. Not for calls at a fixed rate. */
  others?: LoadTarget[];
  connections: number;
  /** Sends at this rate, whether or not calls are answered, and opens a connection whenever none is free. */
  callsPerSecond?: number;
  calls: number;
  /** Minimum size of an answer's body, in bytes. */
  bodyBytesMin: number;
  /** How long each connection stops reading after the beginning of an answer, in milliseconds. */
  pauseMs?: number;
  /** Number of connections that are opened at once; default: all. */
  connectionsAtOnce?: number;
}

export interface LoadResult {
  seconds: number;
  p50Us: number;
  p99Us: number;
  /** Calls that failed or got an unexpected answer. */
  failed: number;
  /** The first failure; null if there was none. */
  firstFault: string | null;
}

if (process.send !== undefined) {
  process.on('message', (job: LoadJob) => {
    run(job).then((result) => process.send?.(result));
  });
  process.on('disconnect', () => process.exit());
  process.send('ready');
}

async function run(job: LoadJob): Promise<LoadResult> {
  const durationsUs: number[] = [];
  let begun = 0;
  let failed = 0;
  let firstFault: string | null = null;

  async function callOnce(connection: Connection): Promise<void> {
    const request = connection.target.requests[begun++ % connection.target.requests.length] as Buffer;
    const startedMs = performance.now();
    try {
      await connection.call(request);
    } catch (error) {
      failed++;
      firstFault ??= (error as Error).message;
    }
    durationsUs.push((performance.now() - startedMs) * 1000);
  }

  const startedMs = performance.now();
  if (job.callsPerSecond === undefined) await runAtOnce(job, () => begun < job.calls, callOnce);
  else await runPaced(job, job.callsPerSecond, callOnce);
  const seconds = (performance.now() - startedMs) / 1000;
  durationsUs.sort((a, b) => a - b);
  const quantile = (share: number) => durationsUs[Math.floor((durationsUs.length - 1) * share)] ?? 0;
  return { seconds, p50Us: quantile(0.5), p99Us: quantile(0.99), failed, firstFault };
}

type CallOnce = (connection: Connection) => Promise<void>;

async function runAtOnce(job: LoadJob, hasMore: () => boolean, callOnce: CallOnce): Promise<void> {
  const targets: LoadTarget[] = [job, ...(job.others ?? [])];
  async function work(target: LoadTarget): Promise<void> {
    const connection = new Connection(job, target);
    while (hasMore()) await callOnce(connection);
    connection.close();
  }

  const workers: Promise<void>[] = [];
  for (let index = 0; index < job.connections; index++) {
    workers.push(work(targets[index % targets.length] as LoadTarget));
    if (job.connectionsAtOnce !== undefined && index % job.connectionsAtOnce === 0) await sleep(20);
  }
  await Promise.all(workers);
}

async function runPaced(job: LoadJob, callsPerSecond: number, callOnce: CallOnce): Promise<void> {
  const free: Connection[] = [];
  const calls: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let index = 0; index < job.calls; index++) {
    await sleep(Math.max(0, startedMs + (index * 1000) / callsPerSecond - performance.now()));
    const connection = free.pop() ?? new Connection(job);
    calls.push(callOnce(connection).then(() => void free.push(connection)));
  }
  await Promise.all(calls);
  for (const connection of free) connection.close();
}

/** Ends a body in chunks. No other bytes of the answers contain a line break. */
const CHUNKS_END = Buffer.from('0\r\n\r\n');

/** One connection to the subject. It is opened again if the subject closes it. */
class Connection {
  readonly target: LoadTarget;
  readonly #job: LoadJob;
  #socket: Socket | null = null;
  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #head = '';
  /** Bytes of the body that are missing; null until the head is complete. */
  #missingBytes: number | null = null;
  /** The last bytes that were received of a body in chunks; null for other bodies. */
  #lastBytes: Buffer | null = null;
  #isLast = false;

  constructor(job: LoadJob, target: LoadTarget = job) {
    this.#job = job;
    this.target = target;
  }

  call(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket ??= this.#open();
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  #open(): Socket {
    const socket = connect({ port: this.target.port, host: '127.0.0.1', noDelay: true });
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      if (socket !== this.#socket) return;
      this.#socket = null;
      this.#fail(new Error('the connection was closed before the answer was whole'));
    });
    return socket;
  }

  #take(bytes: Buffer): void {
    if (this.#missingBytes === null) {
      this.#head += bytes.toString('latin1');
      const headEnd = this.#head.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = this.#head.slice(0, headEnd);
      this.#lastBytes = /\r\ntransfer-encoding: *chunked/i.test(head) ? Buffer.alloc(0) : null;
      const length =
        this.#lastBytes === null
          ? Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1])
          : this.#job.bodyBytesMin;
      this.#isLast = /\r\nconnection: *close/i.test(head);
      if (head.slice(9, 12) !== '200' || !(length >= this.#job.bodyBytesMin)) {
        this.#fail(new Error(`not the expected answer: ${this.#head.slice(0, 600)}`));
        return;
      }
      this.#missingBytes = headEnd + 4 + length - this.#head.length;
      this.#head = '';
      this.#pause();
    } else {
      this.#missingBytes -= bytes.length;
    }
    if (this.#lastBytes === null ? this.#missingBytes === 0 : this.#endsChunks(bytes)) this.#succeed();
  }

  /** Takes the next bytes of a body in chunks. */
  #endsChunks(bytes: Buffer): boolean {
    const { length } = CHUNKS_END;
    const last = Buffer.concat([this.#lastBytes!, bytes.subarray(-length)]).subarray(-length);
    this.#lastBytes = last;
    return (this.#missingBytes ?? 0) <= 0 && last.equals(CHUNKS_END);
  }

  #pause(): void {
    const socket = this.#socket;
    if (this.#job.pauseMs === undefined) return;
    socket?.pause();
    setTimeout(() => socket?.resume(), this.#job.pauseMs);
  }

  #succeed(): void {
    const settle = this.#settle;
    this.#missingBytes = null;
    this.#settle = null;
    if (this.#isLast) this.close();
    settle?.resolve();
  }

  #fail(error: Error): void {
    const settle = this.#settle;
    this.#head = '';
    this.#missingBytes = null;
    this.#settle = null;
    this.close();
    settle?.reject(error);
  }
}
