/**
 * An exporter for the SDK of OpenTelemetry, for any signal: the official encoding, sent to the collector. Its failures
 * never affect a call.
 */
import type { EgressDispatcher } from '@erp-proxy/egress';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ISerializer } from '@opentelemetry/otlp-transformer';
import { type OtlpOptions, OtlpSender, type Outcome, type Signal } from './otlp-sender.ts';

/** Called once at the beginning and at the end of an outage. */
export interface ExportNotices {
  onFailure: (reason: string) => void;
  /** `lost`: number of items that were not delivered during the outage. */
  onRecovery: (lost: number) => void;
}

/** How the items of a signal are encoded and counted. */
export interface Encoding<Items, Answer> {
  signal: Signal;
  json: ISerializer<Items, Answer>;
  protobuf: ISerializer<Items, Answer>;
  count(items: Items): number;
  readAnswer(answer: Answer): { rejected: number };
}

export class OtlpExporter<Items, Answer> {
  readonly sender: OtlpSender;
  readonly #encoding: Encoding<Items, Answer>;
  readonly #isJson: boolean;
  readonly #notices: ExportNotices;
  readonly #running = new Set<Promise<void>>();
  /** Number of items lost in the current outage; null while they are delivered. */
  #lost: number | null = null;

  constructor(
    encoding: Encoding<Items, Answer>,
    options: OtlpOptions,
    egress: EgressDispatcher,
    notices: ExportNotices,
  ) {
    const { json, protobuf, signal } = encoding;
    this.sender = new OtlpSender(options, signal, egress, (bytes, isJson) =>
      encoding.readAnswer((isJson ? json : protobuf).deserializeResponse(bytes)),
    );
    this.#encoding = encoding;
    this.#isJson = options.protocol === 'http/json';
    this.#notices = notices;
  }

  export(items: Items, onDone: (result: ExportResult) => void): void {
    const running = this.deliver(items)
      .catch((error: unknown): Outcome => {
        return {
          isDelivered: false,
          reason: error instanceof Error ? error.message : String(error),
          isRetried: false,
        };
      })
      .then((outcome) => {
        this.#note(outcome, this.#encoding.count(items));
        this.#running.delete(running);
        // The SDK only needs to know that the export has ended.
        onDone({ code: ExportResultCode.SUCCESS });
      });
    this.#running.add(running);
  }

  /** Sends the items until they are delivered, refused, or their time is over. */
  async deliver(items: Items): Promise<Outcome> {
    const { json, protobuf, signal } = this.#encoding;
    const plain = (this.#isJson ? json : protobuf).serializeRequest(items);
    if (plain === undefined)
      return { isDelivered: false, reason: `the ${signal} cannot be encoded`, isRetried: false };
    return this.sender.deliver(plain);
  }

  async forceFlush(): Promise<void> {
    await Promise.all(this.#running);
  }

  async shutdown(): Promise<void> {
    await this.forceFlush();
  }

  #note(outcome: Outcome, items: number): void {
    if (outcome.isDelivered) {
      if (this.#lost === null) return;
      this.#notices.onRecovery(this.#lost);
      this.#lost = null;
    } else {
      if (this.#lost === null) this.#notices.onFailure(outcome.reason);
      this.#lost = (this.#lost ?? 0) + items;
    }
  }
}
