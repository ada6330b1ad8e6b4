/**
 * The process that sends the calls: a fixed number of connections, each with one call after the other, on bare sockets.
 * It takes jobs by message, and judges of each answer only its status and length.
 */
import { connect, type Socket } from 'node:net';

export interface LoadJob {
  port: number;
  /** Whole HTTP requests, sent in turn. */
  requests: Buffer[];
  connections: number;
  calls: number;
  /** An answer's body must have at least so many bytes. */
  bodyBytesMin: number;
  /** Once an answer has begun, each connection stops reading for so long. */
  pauseMs?: number;
  /** Opens the connections in steps of so many; all at once where it is left out. */
  connectionsAtOnce?: number;
}

export interface LoadResult {
  seconds: number;
  p50Us: number;
  p99Us: number;
  /** Calls that failed, or whose answer was not the expected one. */
  failed: number;
  /** What went wrong first; null where nothing did. */
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

  async function work(): Promise<void> {
    const connection = new Connection(job);
    while (begun < job.calls) {
      const request = job.requests[begun++ % job.requests.length] as Buffer;
      const startedMs = performance.now();
      try {
        await connection.call(request);
      } catch (error) {
        failed++;
        firstFault ??= (error as Error).message;
      }
      durationsUs.push((performance.now() - startedMs) * 1000);
    }
    connection.close();
  }

  const startedMs = performance.now();
  const workers: Promise<void>[] = [];
  for (let index = 0; index < job.connections; index++) {
    workers.push(work());
    if (job.connectionsAtOnce !== undefined && index % job.connectionsAtOnce === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  await Promise.all(workers);
  const seconds = (performance.now() - startedMs) / 1000;
  durationsUs.sort((a, b) => a - b);
  const quantile = (share: number) => durationsUs[Math.floor((durationsUs.length - 1) * share)] ?? 0;
  return { seconds, p50Us: quantile(0.5), p99Us: quantile(0.99), failed, firstFault };
}

/** One connection to the subject; opened again where the subject closes it. */
class Connection {
  readonly #job: LoadJob;
  #socket: Socket | null = null;
  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #head = '';
  /** Of the body; null while the head is not whole. */
  #missingBytes: number | null = null;
  #isLast = false;

  constructor(job: LoadJob) {
    this.#job = job;
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
    const socket = connect({ port: this.#job.port, host: '127.0.0.1', noDelay: true });
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
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
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
    if (this.#missingBytes === 0) this.#succeed();
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
