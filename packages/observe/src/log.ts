/**
 * The log: a line of JSON for each call, on standard output. It never contains values of calls, keys or tracebacks of
 * Odoo.
 */
import { printTime } from '@erp-proxy/text';
import type { CallRecord, EventHandlers } from './events.ts';

/** In ascending order of severity. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface Logger {
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/**
 * The members of a line. A function is called when the line is printed; the data that it reads must not change until
 * then.
 */
type Fields = object | (() => object);

/** Creates a logger that writes lines of this level (`log.level`) and above. Tests pass `lines`. */
export function createLogger(level: string, lines: Lines = collectLines(process.stdout)): Logger {
  const names: readonly string[] = LEVELS;
  const minimum = names.indexOf(names.includes(level) ? level : 'info');
  const writeAt = (lineLevel: (typeof LEVELS)[number]): Logger['info'] => {
    if (names.indexOf(lineLevel) < minimum) return () => {};
    const print = (atMs: number, message: string, fields: object) => {
      const members = JSON.stringify(fields).slice(1, -1);
      // Texts are joined, because copying the fields into another object costs as much as printing them.
      return `{"level":"${lineLevel}","time":"${printTime(atMs)}",${members}${members && ','}"msg":${JSON.stringify(message)}}\n`;
    };
    return (message, fields = {}) => {
      const atMs = Date.now();
      if (typeof fields === 'function') lines.add(() => print(atMs, message, fields()));
      else {
        const line = print(atMs, message, fields);
        lines.add(() => line);
      }
    };
  };
  return { info: writeAt('info'), warn: writeAt('warn'), error: writeAt('error') };
}

/** Receives a copy of a line. */
export type LogCopy = (level: 'info' | 'warn' | 'error', message: string, fields: object) => void;

/** A logger that also copies the lines of this level (`log.level`) and above. */
export function copyLines(logger: Logger, level: string, copy: LogCopy): Logger {
  const names: readonly string[] = LEVELS;
  const minimum = names.indexOf(names.includes(level) ? level : 'info');
  const writeAt = (lineLevel: 'info' | 'warn' | 'error'): Logger['info'] => {
    if (names.indexOf(lineLevel) < minimum) return () => {};
    return (message, fields = {}) => {
      logger[lineLevel](message, fields);
      copy(lineLevel, message, typeof fields === 'function' ? fields() : fields);
    };
  };
  return { info: writeAt('info'), warn: writeAt('warn'), error: writeAt('error') };
}

/** Describes an error and its causes for a log line. */
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

/** Refusals within this time share one line: a line for each would cost more than the refusal. */
const REFUSED_PERIOD_MS = 1000;

/** Logs ended calls, refused requests and internal errors. */
export function logEvents(logger: Logger): EventHandlers {
  const printShed = printTogether((refused) => logger.warn('overloaded', { refused }));
  const printRefused = printTogether((refused) => logger.warn('connections refused', { refused }));
  return {
    callEnded(record) {
      logger[concernsOperator(record.outcome) ? 'warn' : 'info']('call', () => round(record));
    },
    requestRefused(record) {
      logger.info('refused', record);
    },
    requestsShed: printShed,
    connectionsRefused: printRefused,
    exportEnded({ totalMs, ...record }) {
      const level = record.problem === null ? 'info' : 'warn';
      logger[level]('export', { ...record, totalMs: Math.round(totalMs) });
    },
    jobEnded({ waitedMs, totalMs, ...record }) {
      const level = record.state === 'failed' || record.state === 'unknown' ? 'warn' : 'info';
      logger[level]('job', { ...record, waitedMs: Math.round(waitedMs), totalMs: Math.round(totalMs) });
    },
    keyNoticed({ kind, expiresAt, ...key }) {
      logger.warn(`client key ${kind}`, { ...key, expiresAt: new Date(expiresAt).toISOString() });
    },
    deliveryEnded(event) {
      logger[event.outcome === 'delivered' ? 'info' : 'warn']('delivery', {
        ...event,
        durationMs: Math.round(event.durationMs),
      });
    },
    subscriptionTroubled({ subscription, kind, reason }) {
      logger.warn(`subscription ${kind}`, { subscription, reason });
    },
    faultSeen(requestId, error) {
      logger.error('internal error', { requestId, err: describeError(error) });
    },
  };
}

/** Returns a function that sums up counts, and prints the sum after {@link REFUSED_PERIOD_MS}. */
function printTogether(print: (count: number) => void): (count: number) => void {
  let counted = 0;
  const end = () => {
    print(counted);
    counted = 0;
  };
  return (count) => {
    if (counted === 0) setTimeout(end, REFUSED_PERIOD_MS).unref();
    counted += count;
  };
}

/** An event of the rotation of the keys of instances and persons. `kind` names the event. */
interface KeyRotationEvent {
  kind: string;
  instance: string;
  person?: string;
}

export function logKeyRotation({ kind, instance, ...more }: KeyRotationEvent, logger: Logger): void {
  const isSuccess = kind === 'rotated' || kind === 'revoked';
  const whose = more.person === undefined ? 'instance' : 'person';
  logger[isSuccess ? 'info' : 'warn'](`${whose} key ${kind}`, { instance, ...more });
}

/**
 * True for failures of the connection to Odoo and of the proxy, which an operator can fix. Callers fix their own
 * errors.
 */
function concernsOperator(outcome: string): boolean {
  return outcome.startsWith('upstream_') || outcome === 'internal' || outcome === 'broken_off';
}

function round(record: CallRecord): CallRecord {
  const { totalMs, upstreamMs } = record;
  return { ...record, totalMs: tenth(totalMs), upstreamMs: upstreamMs === null ? null : tenth(upstreamMs) };
}

function tenth(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/**
 * Buffers lines briefly, then prints and writes them together. A write costs more than a line, and a line that is
 * printed alone, while the code is not in the caches of the processor, costs several times as much as one after
 * another line.
 */
interface Lines {
  /**
   * Adds a line. `print` returns the line with its line break, and is called once, within a tenth of a second, in
   * order.
   */
  add(print: () => string): void;
}

export interface LineDestination {
  write(lines: string): unknown;
  /** Number of written bytes that the receiver has not taken yet. */
  readonly writableLength?: number;
}

/**
 * Maximum time for which a line is buffered. If the process ends without running JavaScript, these lines are lost: by
 * SIGKILL, a crash of Node, or lack of memory. With 10 ms, at 100 calls a second, most calls would wake the process
 * once more for their line.
 */
const BUFFERED_MS = 100;
/** Small, because objects that unprinted lines refer to must not survive collections of young objects. */
const UNPRINTED_MAX = 16;
/** Number of printed characters after which lines are written. */
const PRINTED_MAX = 64 * 1024;
/**
 * Number of untaken bytes above which the receiver counts as stopped. Further lines are dropped, because they would
 * fill the memory.
 */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/** Buffered lines are also written when the process exits. */
export function collectLines(destination: LineDestination): Lines {
  const unprinted: (() => string)[] = [];
  let printed = '';
  let isTimed = false;
  const write = () => {
    const lines = printed;
    printed = '';
    if (lines === '' || (destination.writableLength ?? 0) > WAITING_BYTES_MAX) return;
    destination.write(lines);
  };
  const printAll = () => {
    // Each function is removed before it is called: if one throws, the rest is printed next time.
    for (let print = unprinted.shift(); print !== undefined; print = unprinted.shift()) {
      const line = print();
      printed += line;
      if (printed.length > PRINTED_MAX) write();
    }
  };
  const flush = () => {
    isTimed = false;
    printAll();
    write();
  };
  let isFirst = true;
  return {
    add(print) {
      if (isFirst) process.once('exit', flush);
      isFirst = false;
      if (!isTimed) setTimeout(flush, BUFFERED_MS).unref();
      isTimed = true;
      unprinted.push(print);
      if (unprinted.length >= UNPRINTED_MAX) printAll();
    },
  };
}
