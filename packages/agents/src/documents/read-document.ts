/** Reads the text of a document in a thread of its own, which ends afterwards. The event loop does none of the work. */
import { Worker } from 'node:worker_threads';

const TIME_MAX_MS = 10_000;
/** Maximum documents that are read at a time. Further ones wait. */
const THREADS_MAX = 2;
/** Maximum documents that wait. Further ones are not read. */
const WAITING_MAX = 50;
const MEMORY_MAX_MB = 256;
/** Interval at which the memory of unpacked bytes is checked: the thread's own limit is for its heap only. */
const WATCH_MS = 20;

let running = 0;
const waiting: (() => void)[] = [];

/** Null if the file is not a PDF or an office file, is damaged, or takes too much time or memory. */
export async function readDocument(bytes: Uint8Array): Promise<string | null> {
  if (running >= THREADS_MAX) {
    if (waiting.length >= WAITING_MAX) return null;
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await runThread(bytes);
  } finally {
    // Passes the place of this thread to the next waiting document.
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function runThread(bytes: Uint8Array): Promise<string | null> {
  const worker = new Worker(new URL('./extract-worker.mjs', import.meta.url), {
    workerData: bytes,
    // Empty, because flags of the process, such as --eval and --watch, must not apply to the thread.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MAX_MB },
  });
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(null), TIME_MAX_MS);
    const watch = setInterval(async () => {
      // Rejects once the thread has ended.
      const memory = await worker.getHeapStatistics().catch(() => null);
      if ((memory?.external_memory ?? 0) > MEMORY_MAX_MB * 1024 * 1024) settle(null);
    }, WATCH_MS);
    const settle = (text: string | null) => {
      clearTimeout(timer);
      clearInterval(watch);
      resolve(text);
      void worker.terminate();
    };
    worker.on('message', settle);
    worker.on('error', () => settle(null));
    worker.on('exit', () => settle(null));
  });
}
