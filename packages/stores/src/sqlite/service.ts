/**
 * The SQLite thread: has the connections, and runs the operations that the main thread requests. SQLite blocks its
 * caller for as long as the disk takes, so the main thread never calls it.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openChangeFeed } from './changes.ts';
import { openDatabase, type SqliteDatabase } from './database.ts';
import { describeFailure } from './failures.ts';
import { BEAT_INTERVAL_MS, Heartbeat, readMonotonicMs } from './heartbeat.ts';
import { OPERATIONS, type OperationTraits, type Reply, type Request } from './operations.ts';
import { openParts } from './parts.ts';
import { Scheduler, type Task } from './scheduler.ts';
import { watchWritability } from './writability.ts';

const port = parentPort as MessagePort;
const { file, isSuccessor, heartbeatMemory } = workerData as {
  file: string;
  isSuccessor: boolean;
  heartbeatMemory: SharedArrayBuffer;
};
const heartbeat = new Heartbeat(heartbeatMemory);
const send = (reply: Reply) => {
  heartbeat.beat();
  port.postMessage(reply);
};

try {
  serve(openDatabase(file));
} catch (error) {
  send({ refused: describeFailure(error) });
}

function serve(database: SqliteDatabase): void {
  const { durable, quick, migration } = database;
  const changes = openChangeFeed(durable);
  const scheduler = new Scheduler();
  const writability = watchWritability(file, quick, (write, onDone) =>
    runWrite({ run: write, dueMs: readMonotonicMs() + BEAT_INTERVAL_MS, onDone, onFailed() {} }),
  );
  const { parts } = openParts(database, { onCommit: changes.poll, audit: { isSuccessor } });
  let sentStatus = '';
  const sendStatus = () => {
    const status = { isWatching: changes.isWatching, trouble: writability.trouble };
    const text = JSON.stringify(status);
    if (text !== sentStatus) send({ status });
    sentStatus = text;
  };
  const beat = setInterval(() => {
    changes.poll();
    writability.inspect();
    sendStatus();
    heartbeat.beat();
  }, BEAT_INTERVAL_MS);

  port.on('message', (request: Request) => {
    if ('id' in request) return run(request);
    void close();
  });
  // Watches from the start: a later watch would miss changes of other processes while this thread is busy.
  changes.watch((change) => send({ change }));
  send({ opened: migration });

  function run({ id, part, method, args, sentMs }: Extract<Request, { id: number }>): void {
    const store = parts[part] as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
    const operations: Readonly<Record<string, OperationTraits>> = OPERATIONS[part];
    const operation = store[method];
    const traits = operations[method];
    if (operation === undefined || traits === undefined) {
      send({ id, failure: `it has no operation ${part}.${method}.` });
      return;
    }
    const task = {
      run: () => operation(...args),
      dueMs: sentMs + traits.waitMs,
      onDone: (value: unknown) => send({ id, value }),
      onFailed: (error: unknown) => send({ id, failure: describeFailure(error) }),
    };
    if (traits.isWrite) runWrite(task);
    else runRead(task);
  }

  function runRead({ onFailed, ...task }: Omit<Task, 'isWrite'>): void {
    scheduler.add({
      ...task,
      isWrite: false,
      onFailed(error) {
        writability.readFailed(error);
        onFailed(error);
      },
    });
  }

  function runWrite({ run, onFailed, ...task }: Omit<Task, 'isWrite'>): void {
    scheduler.add({
      ...task,
      isWrite: true,
      run() {
        writability.check();
        return run();
      },
      onFailed(error) {
        writability.failed(error);
        sendStatus();
        onFailed(error);
      },
    });
  }

  async function close(): Promise<void> {
    await scheduler.drain();
    changes.close();
    clearInterval(beat);
    database.close();
    port.close();
  }
}
