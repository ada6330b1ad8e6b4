/** The log: one line a call, JSON, on standard output. Never a value, a key or a traceback of Odoo's. */
import type { CallRecord, Events } from './events.ts';
import { collectLines, type LineDestination } from './lines.ts';

/** The least severe first. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface Logger {
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** A logger that writes JSON lines of this level (`log.level`) and above; `destination` is for tests. */
export function createLogger(
  level: string,
  destination: LineDestination = collectLines(process.stdout),
): Logger {
  const names: readonly string[] = LEVELS;
  const least = names.indexOf(names.includes(level) ? level : 'info');
  const writeAt = (own: (typeof LEVELS)[number]): Logger['info'] => {
    if (names.indexOf(own) < least) return () => {};
    return (message, fields) => {
      const line = { level: own, time: new Date().toISOString(), ...fields, msg: message };
      destination.write(`${JSON.stringify(line)}\n`);
    };
  };
  return { info: writeAt('info'), warn: writeAt('warn'), error: writeAt('error') };
}

/** An error for a log line, with what caused it. */
export function describeError(error: unknown): object | string {
  if (!(error instanceof Error)) return String(error);
  const { name: type, message, stack, cause } = error;
  return {
    type,
    message,
    ...('code' in error ? { code: error.code } : null),
    stack,
    ...(cause === undefined ? null : { cause: describeError(cause) }),
  };
}

const SHED_PERIOD_MS = 1000;

/** Writes each ended call, each refusal and each fault of our own. */
export function logEvents(logger: Logger): Events {
  let shed = 0;
  const tellShed = () => {
    logger.warn('overloaded', { refused: shed });
    shed = 0;
  };
  return {
    requestStarted() {},
    requestEnded() {},
    callRetried() {},
    callEnded(record) {
      logger[isOperatorsConcern(record.outcome) ? 'warn' : 'info']('call', round(record));
    },
    requestRefused(record) {
      logger.info('refused', record);
    },
    requestsShed(count) {
      // A line each would cost more than the refusal.
      if (shed === 0) setTimeout(tellShed, SHED_PERIOD_MS).unref();
      shed += count;
    },
    faultSeen(requestId, error) {
      logger.error('internal error', { requestId, err: describeError(error) });
    },
  };
}

/** Faults of the way to Odoo, which an operator can mend; those of callers are their own. */
function isOperatorsConcern(outcome: string): boolean {
  return outcome.startsWith('upstream_') || outcome === 'internal' || outcome === 'broken_off';
}

function round(record: CallRecord): CallRecord {
  const { totalMs, upstreamMs } = record;
  return { ...record, totalMs: tenth(totalMs), upstreamMs: upstreamMs === null ? null : tenth(upstreamMs) };
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}
