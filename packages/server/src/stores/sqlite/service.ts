/**
 * The thread of the SQLite store: it has the connections, and carries out what the other thread asks. SQLite blocks who
 * calls it, for as long as the disk takes: so the thread of the calls never does.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createSqliteAudit } from './audit.ts';
import { followChanges } from './changes.ts';
import { openDatabase, type SqliteDatabase } from './database.ts';
import { describeFailure } from './failures.ts';
import { createSqliteIdempotency } from './idempotency.ts';
import { createSqliteInstances } from './instances.ts';
import { createSqliteKeys } from './keys.ts';
import { createSqliteLeases } from './leases.ts';
import { NEWS_MS, OPERATIONS, type Parts, type Reply, type Request, readMonotonicMs } from './operations.ts';
import { Scheduler, type Task } from './scheduler.ts';
import { watchWritability } from './writability.ts';

const port = parentPort as MessagePort;
const { file, isSuccessor } = workerData as { file: string; isSuccessor: boolean };
const send = (reply: Reply) => port.postMessage(reply);

try {
  serve(openDatabase(file));
} catch (error) {
  send({ refused: describeFailure(error) });
}

function serve(database: SqliteDatabase): void {
  const { durable, quick, migration } = database;
  const changes = followChanges(durable);
  const scheduler = new Scheduler();
  const writability = watchWritability(file, quick, (write) =>
    runWrite({ run: write, dueMs: readMonotonicMs() + NEWS_MS, onDone() {}, onFailed() {} }),
  );
  const readOne = durable.prepare('SELECT 1 FROM migrations');
  const parts: Parts = {
    keys: createSqliteKeys(durable, changes.look),
    instances: createSqliteInstances(durable, changes.look),
    audit: createSqliteAudit(quick, { isSuccessor }),
    idempotency: createSqliteIdempotency({ durable, quick }, Date.now),
    leases: createSqliteLeases(quick),
    store: { probe: () => void readOne.get() },
  };
  const tellNews = () => send({ news: { isWatching: changes.isWatching, trouble: writability.trouble } });
  const newsTimer = setInterval(tellNews, NEWS_MS);

  port.on('message', (request: Request) => {
    if ('ask' in request) return answer(request);
    void close();
  });
  // From the start: a watch that began later would miss what others change while this thread is busy.
  changes.watch((change) => send({ change }));
  send({ opened: migration });

  function answer({ ask, part, method, args, askedMs }: Extract<Request, { ask: number }>): void {
    const store = parts[part] as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
    const manners: Record<string, (typeof OPERATIONS)['store']['probe']> = OPERATIONS[part];
    const operation = store[method];
    const manner = manners[method];
    if (operation === undefined || manner === undefined) {
      send({ answer: ask, failure: `it cannot be asked for ${part}.${method}.` });
      return;
    }
    const task = {
      run: () => operation(...args),
      dueMs: askedMs + manner.waitMs,
      onDone: (value: unknown) => send({ answer: ask, value }),
      onFailed: (error: unknown) => send({ answer: ask, failure: describeFailure(error) }),
    };
    if (manner.isWrite) runWrite(task);
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

  function runWrite({ run, dueMs, onDone, onFailed }: Omit<Task, 'isWrite'>): void {
    scheduler.add({
      isWrite: true,
      run() {
        writability.check();
        return run();
      },
      dueMs,
      onDone(value) {
        writability.succeeded();
        onDone(value);
      },
      onFailed(error) {
        writability.failed(error);
        tellNews();
        onFailed(error);
      },
    });
  }

  async function close(): Promise<void> {
    await scheduler.drain();
    changes.close();
    writability.close();
    clearInterval(newsTimer);
    database.close();
    port.close();
  }
}
