/**
 * The metrics of prom-client about the delay of the event loop, measured only while there are requests. The timer of
 * prom-client always runs, and would wake an idle process a hundred times a second.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * Time between two measurements, which is subtracted from the delays. With prom-client's 10 ms, a process with a call
 * every 10 ms would wake up as often for measurements as for calls. The metrics show only the part of a delay after the
 * next measurement was due, and nothing before the first measurement after an idle time.
 */
const RESOLUTION_MS = 50;
/** Time without requests after which measuring stops. */
const IDLE_MS = 1000;
const NANOSECONDS = 1e9;
const RESOLUTION_NS = (RESOLUTION_MS / 1000) * NANOSECONDS;

export interface EventLoopLag {
  requestStarted(): void;
  requestEnded(): void;
  /** Whether the delay is measured now. */
  readonly isMeasuring: boolean;
}

type Histogram = ReturnType<typeof monitorEventLoopDelay>;

interface LagMetric {
  name: string;
  help: string;
  aggregator: 'min' | 'max' | 'average';
  read(histogram: Histogram): number;
}

const LAG_METRICS: readonly LagMetric[] = [
  describe('min', 'The minimum recorded event loop delay.', ({ min }) => min - RESOLUTION_NS, 'min'),
  describe('max', 'The maximum recorded event loop delay.', ({ max }) => max - RESOLUTION_NS, 'max'),
  describe('mean', 'The mean of the recorded event loop delays.', ({ mean }) => mean - RESOLUTION_NS),
  describe('stddev', 'The standard deviation of the recorded event loop delays.', ({ stddev }) => stddev),
  ...[50, 90, 99].map((share) =>
    describe(
      `p${share}`,
      `The ${share}th percentile of the recorded event loop delays.`,
      (histogram) => histogram.percentile(share) - RESOLUTION_NS,
    ),
  ),
];

function describe(
  suffix: string,
  help: string,
  read: LagMetric['read'],
  aggregator: LagMetric['aggregator'] = 'average',
): LagMetric {
  return { name: `nodejs_eventloop_lag_${suffix}_seconds`, help, aggregator, read };
}

/** Replaces the metrics of prom-client in the registry. Their values are 0 without a measurement. */
export function measureEventLoopLag(registry: Registry): EventLoopLag {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let running = 0;
  let isMeasuring = false;
  let hasWorked = false;

  for (const { name, help, aggregator, read } of LAG_METRICS) {
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      collect() {
        // A timer can be a little early, which would make the delay negative.
        this.set(histogram.count === 0 ? 0 : Math.max(0, read(histogram) / NANOSECONDS));
        // All gauges of one scrape are collected in the same turn of the event loop.
        queueMicrotask(() => histogram.reset());
      },
    });
  }

  function check(): void {
    isMeasuring = running > 0 || hasWorked;
    hasWorked = false;
    if (isMeasuring) setTimeout(check, IDLE_MS).unref();
    else histogram.disable();
  }

  return {
    requestStarted() {
      running++;
      hasWorked = true;
      if (isMeasuring) return;
      histogram.enable();
      check();
    },
    requestEnded() {
      running--;
    },
    get isMeasuring() {
      return isMeasuring;
    },
  };
}
