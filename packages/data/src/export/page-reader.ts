/**
 * Reads an export page by page: by ids above the last one, never by offset, so that no record is missed or read twice
 * while others are created and deleted. A page is one call, which passes the pipeline like any other. After a temporary
 * failure, the page is read again for some time.
 */

import { delay } from '@erp-proxy/async/tasks';
import { type AnswerFacts, type CallRunner, Denial } from '@erp-proxy/gateway/terms';
import { askOdoo, type QuestionAnswer, type QuestionFailure } from '../ask-odoo.ts';
import { readMemberBytes } from '../data-request.ts';
import { dropsRecords, findAcrossDropped } from '../dropped-records.ts';
import type { ExportRequest } from './export-request.ts';
import { type PageCost, PageSize } from './page-size.ts';
import { type Page, splitPage } from './split-page.ts';

export interface PageReaderDeps {
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  random: () => number;
}

/** Maximum bytes of a page. A larger page is read again in smaller ones. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum bytes of a single record, which cannot be divided. Not for CSV, whose records are printed at once. */
const RECORD_BYTES_MAX = 16 * 1024 * 1024;
/** A page of at most this many bytes is kept in memory while the next one is read. */
export const KEPT_BYTES_MAX = PAGE_BYTES_MAX;

/** An export that has begun waits at most this long for Odoo, or for the limits of its key, before it breaks off. */
const PATIENCE_MS = 120_000;
const RETRY_MS = 500;
const RETRY_MS_MAX = 10_000;
/** Interval at which a wait checks whether the process is stopping. */
const TICK_MS = 250;

export class PageReader {
  readonly #runner: CallRunner;
  readonly #request: ExportRequest;
  readonly #deps: PageReaderDeps;
  readonly #pageSize = new PageSize();
  #isFirst = true;
  /** True during a wait before a page is read again. The time limit of the request does not run then. */
  isWaiting = false;
  /** The first field with null in place of NaN or Infinity; null if there was none so far. */
  nullField: string | null = null;

  constructor(runner: CallRunner, request: ExportRequest, deps: PageReaderDeps) {
    this.#runner = runner;
    this.#request = request;
    this.#deps = deps;
  }

  /**
   * Reads the next page, of at most `countMax` records: the first ones with an id above `after`. A page without records
   * is the last one. Call it for one page at a time.
   */
  async read(after: number | null, countMax: number): Promise<Page | QuestionFailure> {
    const endsMs = this.#deps.nowMs() + PATIENCE_MS;
    for (let failures = 0; ; ) {
      const asked = Math.min(this.#pageSize.size, countMax);
      const answer = await this.#ask(after, asked);
      if (!('result' in answer)) {
        const isDivisible = 'isTooLarge' in answer && asked > 1;
        if (isDivisible) this.#pageSize.halve(asked);
        else if ('isTooLarge' in answer) return { denial: await this.#explainLarge(after, answer.denial) };
        else if (this.#isFirst || !(await this.#waitAfter(answer, failures++, endsMs))) return answer;
        continue;
      }
      const page = await splitPage(answer.result, after, asked);
      if (typeof page === 'string') return { denial: denyPage(page) };
      if (page.lastId === null) {
        const next = await this.#findNext(after);
        if (typeof next === 'object' && next !== null) return next;
        if (next !== null) {
          after = next - 1;
          continue;
        }
      }
      this.#isFirst = false;
      this.#pageSize.learn({ ...answer.cost, records: page.bounds.length / 2 });
      return page;
    }
  }

  /** The id of the next visible record; null if there is none. */
  async #findNext(after: number | null): Promise<number | null | QuestionFailure> {
    if (!dropsRecords(this.#request.data.model)) return null;
    const found = await findAcrossDropped<number, QuestionFailure>(async (limit) => {
      const answer = await this.#ask(after, limit, '["id"]');
      if (!('result' in answer)) return { failed: answer, isTooLarge: 'isTooLarge' in answer };
      const page = await splitPage(answer.result, after, limit);
      if (typeof page === 'string') return { failed: { denial: denyPage(page) }, isTooLarge: false };
      return { first: page.lastId === null ? null : readFirst(page), isCapped: false };
    });
    return 'failed' in found ? found.failed : found.next;
  }

  /**
   * The denial for a record that is too large, which is the one after `after`: names its id. `denial`: the answer if
   * the id cannot be read.
   */
  async #explainLarge(after: number | null, denial: Denial): Promise<Denial> {
    const answer = await this.#ask(after, 1, '["id"]');
    const page = 'result' in answer ? await splitPage(answer.result, after, 1) : null;
    if (page === null || typeof page === 'string' || page.lastId === null) return denial;
    const { model } = this.#request.data;
    const text = `The record ${page.lastId} of \`${model}\` is too large to be exported with these fields. ${denial.message} To leave it out, go on with \`after\`: ${page.lastId}.`;
    return new Denial(denial.type, text, denial.more);
  }

  async #ask(
    after: number | null,
    limit: number,
    fields: Uint8Array | string = readMemberBytes(this.#request.data, 'fields') ?? '[]',
  ): Promise<{ result: Uint8Array; cost: Omit<PageCost, 'records'> } | QuestionFailure> {
    const { data, terms, format } = this.#request;
    const context = readMemberBytes(data, 'context');
    this.#runner.renewTime();
    const answer: QuestionAnswer = await askOdoo(
      this.#runner,
      data,
      {
        method: 'search_read',
        params: buildDomain(terms, after),
        keyword: {
          fields,
          order: '"id"',
          limit: String(limit),
          ...(context === null ? {} : { context }),
        },
      },
      limit === 1 && format !== 'csv' ? RECORD_BYTES_MAX : PAGE_BYTES_MAX,
      {
        // A cell is printed by the type of its value.
        ...(format === 'csv' ? { areValuesNormalized: true } : {}),
        // The first page says whether the export is allowed.
        deferral: this.#runner.deferral,
      },
    );
    if (!('result' in answer)) return answer;
    const { result, facts } = answer;
    this.nullField ??= facts?.nullField ?? null;
    return { result, cost: { bytes: result.length, ...this.#measure(facts) } };
  }

  #measure(facts: AnswerFacts | null): Pick<PageCost, 'tookMs' | 'interactiveMs'> {
    if (facts === null || facts.sentMs === null) return { tookMs: 0, interactiveMs: null };
    return { tookMs: this.#deps.nowMs() - facts.sentMs, interactiveMs: facts.interactiveMs };
  }

  /** Waits if the failure may pass and there is time. Returns whether the page may be read again. */
  async #waitAfter(failure: QuestionFailure, failures: number, endsMs: number): Promise<boolean> {
    const retry = readRetry(failure);
    if (retry === null) return false;
    const { nowMs, random } = this.#deps;
    const backoffMs = Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** failures) * (0.5 + random() / 2);
    const untilMs = nowMs() + Math.max(retry.afterMs, backoffMs);
    if (untilMs > endsMs) return false;
    const { signal } = this.#runner;
    this.isWaiting = true;
    this.#runner.pauseTime();
    while (nowMs() < untilMs && !this.#isEnding) await delay(Math.min(TICK_MS, untilMs - nowMs()), signal);
    this.isWaiting = false;
    return !this.#isEnding;
  }

  get #isEnding(): boolean {
    return this.#runner.signal.aborted || this.#runner.isStopping();
  }
}

function readFirst({ bytes, bounds }: Page): number {
  return JSON.parse(Buffer.from(bytes.subarray(bounds[0], bounds[1])).toString()).id;
}

/**
 * Puts the condition on `id` first: a leading term is joined by "and". After the other terms it could become a part of
 * an "or".
 */
function buildDomain(terms: Uint8Array, after: number | null): Uint8Array {
  const first = after === null ? '' : `["id",">",${after}]`;
  const separator = after === null || terms.length === 0 ? '' : ',';
  return Buffer.concat([Buffer.from(`[[${first}${separator}`), terms, Buffer.from(']]')]);
}

/** When to retry the call; null if it would fail again. */
function readRetry(failure: QuestionFailure): { afterMs: number } | null {
  if ('denial' in failure) {
    const { retryable, more } = failure.denial;
    return retryable ? { afterMs: (more.retryAfterSeconds ?? 0) * 1000 } : null;
  }
  const { error } = JSON.parse(Buffer.from(failure.error).toString()) as {
    error?: { data?: { retryable?: boolean } };
  };
  return error?.data?.retryable === true
    ? { afterMs: Number(failure.headers['retry-after'] ?? 0) * 1000 }
    : null;
}

function denyPage(problem: string): Denial {
  return new Denial(
    'upstream_bad_response',
    `An answer of Odoo ${problem}, so that the export cannot go on. Check the model with a \`search_read\` ordered by \`id\`.`,
    { outcome: 'unknown', isReadOnly: false, detail: problem },
  );
}
