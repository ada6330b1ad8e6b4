/**
 * A histogram of durations for prom-client's registry. A series is looked up once and then kept by its user, because
 * prom-client's own histogram checks and joins the labels with each observation.
 */
import type { Metric, MetricValueWithName, Registry } from 'prom-client';

type Labels = Record<string, string>;

export interface DurationHistogramOptions {
  registry: Registry;
  name: string;
  help: string;
  labelNames: readonly string[];
  /** Upper bounds in ascending order. */
  bucketsSeconds: readonly number[];
}

export class DurationHistogram {
  // What a registry reads, in addition to `get`.
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #bucketsSeconds: readonly number[];
  readonly #series: DurationSeries[] = [];

  constructor({ registry, name, help, labelNames, bucketsSeconds }: DurationHistogramOptions) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.#bucketsSeconds = bucketsSeconds;
    registry.registerMetric(this as unknown as Metric);
  }

  /** Each series needs other labels. It is shown from its first observation on. */
  add(labels: Labels): DurationSeries {
    const series = new DurationSeries(labels, this.#bucketsSeconds);
    this.#series.push(series);
    return series;
  }

  async get(): Promise<object> {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.#series.flatMap((series) => series.list(name)) };
  }
}

export class DurationSeries {
  readonly #labels: Labels;
  readonly #bucketsSeconds: readonly number[];
  /** Number of observations in each bucket and, last, above all. */
  readonly #counts: number[];
  #sumSeconds = 0;

  constructor(labels: Labels, bucketsSeconds: readonly number[]) {
    this.#labels = labels;
    this.#bucketsSeconds = bucketsSeconds;
    this.#counts = Array(bucketsSeconds.length + 1).fill(0);
  }

  observe(seconds: number): void {
    const buckets = this.#bucketsSeconds;
    let index = 0;
    while (index < buckets.length && seconds > (buckets[index] as number)) index++;
    (this.#counts[index] as number) += 1;
    this.#sumSeconds += seconds;
  }

  /** The values that a scrape shows. Buckets are cumulative. */
  list(name: string): MetricValueWithName<string>[] {
    let count = 0;
    const buckets = this.#counts.map((own, index) => {
      count += own;
      const labels = { le: this.#bucketsSeconds[index] ?? '+Inf', ...this.#labels };
      return { metricName: `${name}_bucket`, labels, value: count };
    });
    if (count === 0) return [];
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: this.#labels, value: this.#sumSeconds },
      { metricName: `${name}_count`, labels: this.#labels, value: count },
    ];
  }
}
