/** The log: one line a call, JSON, on standard output. Never a value, a key or a traceback of Odoo's. */
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Events } from './events.ts';

export type { Logger } from 'pino';

/** A logger that writes JSON lines; `destination` is for tests. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** Writes each ended call, each refusal and each fault of our own. */
export function logEvents(logger: Logger): Events {
  return {
    requestStarted() {},
    requestEnded() {},
    callEnded(record) {
      logger[isOperatorsConcern(record.outcome) ? 'warn' : 'info'](round(record), 'call');
    },
    requestRefused(record) {
      logger.info(record, 'refused');
    },
    faultSeen(requestId, error) {
      logger.error({ requestId, err: error }, 'internal error');
    },
  };
}

/** Faults of the way to Odoo, which an operator can mend; those of callers are their own. */
function isOperatorsConcern(outcome: string): boolean {
  return outcome.startsWith('upstream_') || outcome === 'internal' || outcome === 'broken_off';
}

function round<T extends { totalMs: number; upstreamMs: number | null }>(record: T): T {
  const tenth = (ms: number) => Math.round(ms * 10) / 10;
  return {
    ...record,
    totalMs: tenth(record.totalMs),
    upstreamMs: record.upstreamMs === null ? null : tenth(record.upstreamMs),
  };
}
