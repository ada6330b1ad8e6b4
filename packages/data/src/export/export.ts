/**
 * Serves `POST /api/erp/export`: all records of a model that match a domain, the lowest id first, as they arrive from
 * Odoo. While a page is sent, only the next one is read. An error after the first byte breaks the connection off, so
 * that an incomplete export never looks complete; the caller can resume after the last record that it has.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ByteStreamError } from '@erp-proxy/async/streams';
import { describeNullField, NORMALIZED, ReadingPace } from '@erp-proxy/gateway/request';
import type { CallRunner, Denial } from '@erp-proxy/gateway/terms';
import type { Events } from '@erp-proxy/observe/events';
import type { QuestionFailure } from '../ask-odoo.ts';
import { nameMembers } from '../name-members.ts';
import { type ExportRequest, readExportRequest } from './export-request.ts';
import { KEPT_BYTES_MAX, PageReader, type PageReaderDeps } from './page-reader.ts';
import { createPrinter, type Printer } from './print-page.ts';
import type { Page } from './split-page.ts';

export interface ExportDeps extends PageReaderDeps {
  /** Minimum rate at which a caller must read; 0: no minimum. */
  bytesPerSecondMin: number;
  events: Pick<Events, 'exportEnded'>;
}

export interface Exporter {
  /** Answers the request. */
  serve(runner: CallRunner): Promise<Denial | null>;
}

export function createExporter(deps: ExportDeps): Exporter {
  return {
    async serve(runner) {
      const request = readExportRequest(runner.bytes);
      if ('denial' in request) {
        runner.refuse(request.denial, request.id);
        return null;
      }
      await new Export(runner, request, deps).run();
      return null;
    },
  };
}

class Export {
  readonly #runner: CallRunner;
  readonly #request: ExportRequest;
  readonly #deps: ExportDeps;
  readonly #reader: PageReader;
  readonly #printer: Printer;
  readonly #pace: ReadingPace;
  #records = 0;
  #bytes = 0;

  constructor(runner: CallRunner, request: ExportRequest, deps: ExportDeps) {
    this.#runner = runner;
    this.#request = request;
    this.#deps = deps;
    this.#reader = new PageReader(runner, request, deps);
    this.#printer = createPrinter(request.format, request.fields, request.form, request.hasMark);
    this.#pace = new ReadingPace(deps.bytesPerSecondMin);
  }

  async run(): Promise<void> {
    const first = await this.#reader.read(this.#request.after, this.#request.limit);
    if ('bounds' in first) await this.#stream(first);
    else this.#answerFailure(first);
  }

  /** Nothing was sent yet, so the caller gets the error. */
  #answerFailure(failure: QuestionFailure): void {
    const { id } = this.#request.data;
    if ('denial' in failure) {
      this.#runner.refuse(failure.denial, id);
      return;
    }
    const { status, headers, error } = failure;
    const { writer } = this.#runner.exchange;
    writer.sendWhole(status, { ...this.#runner.describe(), ...headers }, nameMembers(error, 'domain'));
  }

  async #stream(first: Page): Promise<void> {
    const { exchange, signal, areValuesNormalized } = this.#runner;
    const { writer } = exchange;
    const { nowMs } = this.#deps;
    const startedMs = nowMs();
    // Without this listener, a write to a caller that has stopped reading would never settle.
    const breakOff = () => writer.breakOff();
    signal.addEventListener('abort', breakOff);
    let problem: string | null = 'an internal error';
    try {
      const { contentType, head } = this.#printer;
      const applied = areValuesNormalized ? NORMALIZED : {};
      const headers = {
        ...this.#runner.describe(),
        ...applied,
        ...describeNullField(this.#reader.nullField),
        'content-type': contentType,
      };
      writer.begin(200, headers, null);
      if (head !== null) await this.#write(head);
      problem = await this.#sendAll(first);
    } catch (error) {
      if (!(error instanceof ByteStreamError || error instanceof SyntaxError)) throw error;
      problem = error.message;
    } finally {
      signal.removeEventListener('abort', breakOff);
      if (problem === null) writer.end();
      else writer.breakOff();
      this.#deps.events.exportEnded({
        requestId: exchange.requestId,
        keyId: this.#runner.client.key.id,
        model: this.#request.data.model,
        format: this.#request.format,
        records: this.#records,
        bytes: this.#bytes,
        totalMs: nowMs() - startedMs,
        nullField: this.#reader.nullField,
        problem,
      });
    }
  }

  /** Sends the page and all following ones. Returns why the export broke off, or null if it is complete. */
  async #sendAll(first: Page): Promise<string | null> {
    let left = this.#request.limit;
    for (let page = first; page.lastId !== null; ) {
      const { lastId } = page;
      left -= page.bounds.length / 2;
      if (left <= 0) {
        await this.#send(page);
        return null;
      }
      const readNext = () => this.#reader.read(lastId, left);
      const next = page.bytes.length <= KEPT_BYTES_MAX ? await this.#sendBeside(page, readNext) : null;
      if (next === null) await this.#send(page);
      const following = next ?? (await readNext());
      if (!('bounds' in following)) return describeFailure(following);
      if (this.#runner.isStopping()) return 'the proxy is shutting down';
      page = following;
    }
    return null;
  }

  /** Sends a page while the next one is read. */
  async #sendBeside(
    page: Page,
    readNext: () => Promise<Page | QuestionFailure>,
  ): Promise<Page | QuestionFailure> {
    const next = readNext();
    // `await next` throws an exception of the reading after the page was sent.
    next.catch(() => {});
    try {
      await this.#send(page);
    } catch (error) {
      // Ends the call that reads the next page.
      this.#runner.exchange.writer.breakOff();
      await next;
      throw error;
    }
    return next;
  }

  async #send(page: Page): Promise<void> {
    for (let first = 0; 2 * first < page.bounds.length; ) {
      const { pieces, next } = this.#printer.print(page, first);
      for await (const piece of pieces) await this.#write(piece);
      this.#records += next - first;
      this.#runner.exchange.reportRecords?.(this.#records);
      first = next;
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const { writer } = this.#runner.exchange;
    const { signal } = this.#runner;
    const drained = writer.write(bytes);
    this.#bytes += bytes.length;
    if (!(await this.#pace.waitUntilRead(bytes.length, drained, () => true)))
      throw this.#pace.slowCallerError;
    // A socket that accepts the bytes at once drains within the same turn.
    await yieldToEventLoop();
    if (signal.aborted) throw new ByteStreamError('aborted', `the export ended early: ${signal.reason}`);
    // The export as a whole has no time limit: each write renews the time.
    if (!this.#reader.isWaiting) this.#runner.renewTime();
  }
}

/** The text for the log. It must not contain values, which Odoo's own message may contain. */
function describeFailure(failure: QuestionFailure): string {
  if ('denial' in failure) return failure.denial.message;
  const { error } = JSON.parse(Buffer.from(failure.error).toString()) as {
    error: { data: { type: string } };
  };
  return `Odoo answered ${error.data.type}`;
}
