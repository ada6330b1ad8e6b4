/**
 * The primary of several workers: starts them, replaces a worker that dies or hangs, and ends when all have ended. It
 * serves no requests; workers run serve.ts. Node's cluster distributes connections in turn. With SCHED_NONE or
 * `reusePort`, the kernel would distribute them: 16 connections that arrive at once were spread over four workers as 0,
 * 1, 3 and 12, although each worker has a quarter of the limits.
 */
import cluster, { type Worker } from 'node:cluster';
import { fstatSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { delay } from '@erp-proxy/async/tasks';
import type { Logger } from '@erp-proxy/observe/log';
import type { ProgramSettings } from '../config/load.ts';
import { watchHeartbeats } from './workers-heartbeat.ts';
import { type AskWorker, connectWorker, printWorkers } from './workers-metrics.ts';
import { markWorker, provideSettings, type SharedSettings } from './workers-settings.ts';

export interface WorkersOptions {
  count: number;
  /** The settings of all workers. */
  given: ProgramSettings;
  logger: Logger;
  /** True if the output goes to a terminal. */
  isTerminal: boolean;
  /** Resolves when the operator asks the program to end. */
  stopped: Promise<void>;
}

/** How a process ended: one of the two members is null. */
interface End {
  status: number | null;
  signal: string | null;
}

interface RunningWorker {
  id: number;
  pid: number | undefined;
  listening: Promise<null>;
  ended: Promise<End>;
}

/** The pause before a replacement starts doubles each time a worker dies within this time after its start. */
const STEADY_MS = 10_000;
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 30_000;

/** Runs until it is stopped. Returns the exit status. */
export async function runWorkers({
  count,
  given,
  logger,
  isTerminal,
  stopped,
}: WorkersOptions): Promise<number> {
  // Inherited by the workers for a terminal or a file, which keep each line of several processes whole. A pipe may mix
  // lines.
  const stdout = isTerminal || isFile(process.stdout.fd) ? 'inherit' : 'pipe';
  // Advanced serialization, because metrics can be NaN, which JSON lacks.
  cluster.setupPrimary({ serialization: 'advanced', stdio: ['inherit', stdout, 'inherit', 'ipc'] });
  const passOn = joinOutput(process.stdout);
  const asks = new Map<number, AskWorker>();
  const shared: SharedSettings = { given };
  const startWorker = () => {
    const worker = cluster.fork(markWorker());
    provideSettings(worker, shared);
    const { stdout } = worker.process;
    // A process that could not be started has no output.
    if (stdout) passOn(stdout);
    return watchWorker(worker, asks, logger);
  };
  const stopping = new AbortController();
  void stopped.then(() => {
    stopping.abort();
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
  });

  // The first worker starts alone: a cause that prevents all workers from starting is then reported once.
  const first = startWorker();
  const failure = await Promise.race([first.listening, first.ended]);
  if (failure !== null) return stopping.signal.aborted ? 0 : (failure.status ?? 1);
  const others = stopping.signal.aborted ? 0 : count - 1;
  const ends = await Promise.all([
    keepRunning(first),
    ...Array.from({ length: others }, () => keepRunning()),
  ]);
  return ends.every((isWell) => isWell) ? 0 : 1;

  /** Resolves when the program stops; false if the last worker failed. */
  async function keepRunning(started?: RunningWorker): Promise<boolean> {
    let pauseMs = PAUSE_MIN_MS;
    for (let worker = started ?? startWorker(); ; worker = startWorker()) {
      const startedMs = performance.now();
      const { status, signal } = await worker.ended;
      // SIGTERM: the worker was stopped before it had a handler for the signal.
      if (stopping.signal.aborted) return status === 0 || signal === 'SIGTERM';
      if (performance.now() - startedMs > STEADY_MS) pauseMs = PAUSE_MIN_MS;
      logger.error('worker ended', { worker: worker.id, pid: worker.pid, status, signal, pauseMs });
      await delay(pauseMs, stopping.signal);
      if (stopping.signal.aborted) return true;
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    }
  }
}

function isFile(descriptor: number): boolean {
  return fstatSync(descriptor).isFile();
}

/** Registers the worker in `asks` while it listens. */
function watchWorker(worker: Worker, asks: Map<number, AskWorker>, logger: Logger): RunningWorker {
  const { id } = worker;
  const printAll = () => printWorkers([...asks.values()]);
  const forget = () => asks.delete(id);
  worker.process.once('exit', forget).once('disconnect', forget);
  const endHung = () => {
    logger.error('worker hung', { worker: id, pid: worker.process.pid });
    // SIGKILL, because a stopped process or an endless loop handles no other signal.
    worker.process.kill('SIGKILL');
  };
  const heartbeat = worker.isConnected() ? watchHeartbeats(worker, endHung) : null;
  return {
    id,
    pid: worker.process.pid,
    listening: new Promise((resolve) =>
      worker.once('listening', () => {
        asks.set(id, connectWorker(worker, printAll));
        heartbeat?.started();
        resolve(null);
      }),
    ),
    ended: new Promise((resolve) => {
      worker.once('exit', (status: number | null, signal: string | null) => resolve({ status, signal }));
      // A message to a worker that has just died fails, too; its `exit` event follows. A process that could not be
      // started has no such event.
      worker.on('error', () => {
        if (worker.process.pid === undefined) resolve({ status: null, signal: null });
      });
    }),
  };
}

const LINE_FEED = 0x0a;

/**
 * Joins the output of several workers line by line, for a pipe or a socket. Processes that write to the same pipe
 * would mix their lines. Returns a function that adds a worker's output. If the reader of `destination` is slow,
 * workers wait before they write more.
 */
export function joinOutput(destination: Writable): (source: Readable) => void {
  const paused = new Set<Readable>();
  const resumeAll = () => {
    for (const source of paused) source.resume();
    paused.clear();
  };
  // Also resumed after an error: nothing is written any more, so there is nothing to wait for.
  destination.on('drain', resumeAll).on('error', resumeAll);

  return (source) => {
    /** The pieces of an incomplete line. */
    let begun: Buffer[] = [];
    source.on('data', (bytes: Buffer) => {
      const end = bytes.lastIndexOf(LINE_FEED) + 1;
      if (end === 0) {
        begun.push(bytes);
        return;
      }
      // Nothing else is written between these pieces. Joining them first would copy all bytes.
      let isFull = false;
      for (const piece of [...begun, bytes.subarray(0, end)]) isFull = !destination.write(piece);
      begun = end === bytes.length ? [] : [bytes.subarray(end)];
      if (!isFull || !destination.writable) return;
      paused.add(source);
      source.pause();
    });
  };
}
