/**
 * Compares what a sink has with the chain. The hashes of the sink itself are recomputed with the key of the chain, so
 * that records which retention has removed from the store are checked, too.
 */
import type { KeyObject } from 'node:crypto';
import { createPauses } from '@erp-proxy/async/tasks';
import { hashRow } from '@erp-proxy/stores/audit-chain';
import type { AuditPosition, AuditRow, AuditStore } from '@erp-proxy/stores/ports';
import { SLICE_LENGTH } from './record.ts';
import { readSinkLine, type SinkRecord } from './sink-line.ts';

export interface AuditComparison {
  /** True: each record of the sink is one of the chain, and none is missing between its first and its last one. */
  readonly matches: boolean;
  /** Number of different records that the sink has. */
  readonly records: number;
  /** Number of records that it has more than once, which is allowed. */
  readonly repeated: number;
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
  /** Number of the last record of the store. The sink may be some records behind it. */
  readonly storeLastSeq: number | null;
  /** The first difference. `line` is null if it is not that of one line. */
  readonly fault: { line: number | null; seq: number | null; problem: string } | null;
}

type Fault = NonNullable<AuditComparison['fault']>;

type ComparedStore = Pick<AuditStore, 'readAfter' | 'readHead' | 'readFloor'>;

const PAGE_ROWS = 200;

/**
 * `lines`: those of all files of the sink, in order, without line breaks. `taken`: the last record that the sink has
 * said to have taken; null: that is not known.
 */
export async function compareSink(
  lines: AsyncIterable<string>,
  store: ComparedStore,
  chainKey: KeyObject,
  taken: AuditPosition | null,
): Promise<AuditComparison> {
  const pause = createPauses(SLICE_LENGTH);
  const reading = new SinkReading(store, chainKey);
  let number = 0;
  let fault: Fault | null = null;
  for await (const line of lines) {
    number++;
    if (line === '') continue;
    await pause(line.length);
    fault = await reading.checkLine(line, number);
    if (fault !== null) break;
  }
  const { before, first, records, repeated } = reading;
  if (fault === null && taken !== null && taken.seq > (before?.seq ?? 0)) {
    const problem = `The sink has said to have taken the records up to ${taken.seq}, and its last one is ${before?.seq ?? 'missing'}.`;
    fault = { line: null, seq: taken.seq, problem };
  }
  return {
    matches: fault === null,
    records,
    repeated,
    firstSeq: first,
    lastSeq: before?.seq ?? null,
    storeLastSeq: (await store.readHead())?.seq ?? null,
    fault,
  };
}

class SinkReading {
  readonly #store: ComparedStore;
  readonly #chainKey: KeyObject;
  #page: ReadonlyMap<number, AuditRow> = new Map();
  /** The record with the highest number so far. */
  before: SinkRecord | null = null;
  first: number | null = null;
  records = 0;
  repeated = 0;

  constructor(store: ComparedStore, chainKey: KeyObject) {
    this.#store = store;
    this.#chainKey = chainKey;
  }

  async checkLine(text: string, line: number): Promise<Fault | null> {
    const found = readSinkLine(text);
    if (found === null) {
      return { line, seq: null, problem: 'The line is no record of the audit, or not whole.' };
    }
    for (const record of found) {
      const problem = await this.#checkRecord(record);
      if (problem !== null) return { line, seq: record.seq, problem };
    }
    return null;
  }

  /** Returns what is wrong with the record; null if nothing is. */
  async #checkRecord(record: SinkRecord): Promise<string | null> {
    const { seq, hash } = record;
    const { before } = this;
    if (before !== null && seq > before.seq + 1) {
      return `The records ${before.seq + 1} to ${seq - 1} are missing in the sink.`;
    }
    const isNext = before === null || seq === before.seq + 1;
    if (
      isNext &&
      before !== null &&
      !isSame(hashRow(this.#chainKey, before.hash, seq, record.record), hash)
    ) {
      return 'The record was changed in the sink, or its hash, or keys.hashSecret is another one.';
    }
    const row = await this.#find(seq);
    if (row !== null && (row.record !== record.record || !isSame(row.hash, hash))) {
      return 'The sink has another record than the store.';
    }
    if (row === null && seq > ((await this.#store.readFloor())?.seq ?? 0)) {
      return 'The sink has a record that the store does not have.';
    }
    // If retention has removed it, only its first appearance could be checked.
    if (!isNext) this.repeated++;
    else {
      this.first ??= seq;
      this.before = record;
      this.records++;
    }
    return null;
  }

  /** The row of the store, which is read in pages: a sink has the records in order. */
  async #find(seq: number): Promise<AuditRow | null> {
    if (!this.#page.has(seq)) {
      const rows = await this.#store.readAfter(seq - 1, PAGE_ROWS);
      this.#page = new Map(rows.map((row) => [row.seq, row]));
    }
    return this.#page.get(seq) ?? null;
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
