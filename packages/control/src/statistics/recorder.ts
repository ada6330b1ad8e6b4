/**
 * Counts calls when they end, and writes the counts to the store every ten seconds. Each process writes only its own
 * rows, so processes need no coordination. A killed process loses the counts of about ten seconds.
 */

import { SingleFlight } from '@erp-proxy/async/tasks';
import type { EventHandlers } from '@erp-proxy/observe/events';
import type { StatisticsRow, StatisticsStore } from '@erp-proxy/stores/ports';
import {
  addPeriod,
  createPeriod,
  type Gauges,
  type Period,
  printPeriod,
  raiseMost,
  STEPS,
  type Step,
} from './period.ts';

export interface RecorderOptions {
  store: StatisticsStore;
  /** A name that no other process has or will have. */
  process: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Returns the number of calls that wait for Odoo databases now. */
  countQueued: () => number;
  /** Called with the first error of the store since its last success. */
  onError: (error: unknown) => void;
}

export interface Recorder {
  events: EventHandlers;
  /** Numbers of unfinished requests and calls of this process. */
  readonly gauges: Gauges;
  /** Writes the counts since the last write. Rejects if the store fails; the counts are then written later. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const FLUSH_MS = 10_000;
/** If the clock is set back by more than this, new periods begin. */
const CLOCK_BACK_MS = STEPS.hour;
/** Maximum number of closed periods that wait while the store is unavailable. Older ones are lost. */
const WAITING_MAX = 120;

export function createRecorder({ store, process, clock, countQueued, onError }: RecorderOptions): Recorder {
  let minute = createPeriod('minute', clock());
  let hour = createPeriod('hour', clock());
  /** Closed periods that are not stored yet, the oldest first. */
  let closed: Period[] = [];
  let isChanged = false;
  let isFailing = false;
  let inFlight = 0;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  const writes = new SingleFlight<void>();

  function findMinute(): Period {
    const now = clock();
    // While the clock is behind, the minute goes on: a second period with the same start would replace it in the store.
    const isOver = now >= minute.startsAt + STEPS.minute || now < minute.startsAt - CLOCK_BACK_MS;
    if (isOver) closeMinute(now);
    isChanged = true;
    if (timer === null && !isClosed) {
      timer = setTimeout(() => {
        timer = null;
        flush().catch(() => {});
      }, FLUSH_MS).unref();
    }
    return minute;
  }

  function closeMinute(now: number): void {
    closed.push(minute);
    addPeriod(hour, minute);
    if (now < hour.startsAt - CLOCK_BACK_MS || now >= hour.startsAt + STEPS.hour) {
      closed.push(hour);
      hour = createPeriod('hour', now);
    }
    minute = createPeriod('minute', now);
    raiseMost(minute, { inFlight, queued: 0 });
    if (closed.length > WAITING_MAX) closed = closed.slice(-WAITING_MAX);
  }

  /** The rows to write. The open hour has only closed minutes, so the open minute is added to its row. */
  function listRows(): StatisticsRow[] {
    const soFar = createPeriod('hour', hour.startsAt);
    addPeriod(soFar, hour);
    addPeriod(soFar, minute);
    return [...closed, minute, soFar].map((period) => toRow(period, process));
  }

  function flush(): Promise<void> {
    return writes.run('', async () => {
      if (!isChanged) return;
      isChanged = false;
      raiseMost(minute, { inFlight, queued: countQueued() });
      const written = new Set(closed);
      try {
        await store.put(listRows());
        closed = closed.filter((period) => !written.has(period));
        isFailing = false;
      } catch (error) {
        isChanged = true;
        if (!isFailing) onError(error);
        isFailing = true;
        throw error;
      }
    });
  }

  return {
    events: {
      requestStarted() {
        inFlight++;
        if (inFlight > minute.most.inFlight) minute.most.inFlight = inFlight;
      },
      requestEnded() {
        inFlight--;
      },
      callEnded(record) {
        findMinute().cells.add({
          instance: record.instance ?? record.upstream,
          client: record.clientId,
          model: record.model,
          action: record.method,
          outcome: record.outcome,
          sharedFrom: record.sharedFrom,
          totalMs: record.totalMs,
          upstreamMs: record.upstreamMs,
        });
      },
      requestRefused({ clientId, outcome }) {
        findMinute().cells.addRefused(clientId, outcome, 1);
      },
      requestsShed(count) {
        findMinute().cells.addRefused(null, 'overloaded', count);
      },
    },
    get gauges() {
      return { inFlight, queued: countQueued() };
    },
    flush,
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await flush();
    },
  };
}

function toRow(period: Period, process: string): StatisticsRow {
  const { step, startsAt } = period;
  return { step: step satisfies Step, startsAt, process, body: printPeriod(period) };
}
