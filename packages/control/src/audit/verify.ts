/**
 * Recomputes the chain from the last row that retention removed to the head, page by page, during concurrent appends
 * and removals. Returns the first place where the stored chain is broken.
 */
import type { KeyObject } from 'node:crypto';
import { createPauses } from '@erp-proxy/async/tasks';
import type { AuditVerification } from '@erp-proxy/contract';
import { hashRow } from '@erp-proxy/stores/audit-chain';
import type { AuditPosition, AuditRow, AuditStore } from '@erp-proxy/stores/ports';
import { readView, SLICE_LENGTH } from './record.ts';
import { AuditQueryError } from './search.ts';

const PAGE_ROWS = 200;
const HEAD = /^(0|[1-9]\d{0,14}):([0-9a-f]{64})$/;

/** The first place where the chain is broken. */
type Break = NonNullable<AuditVerification['fault']>;

interface Chain {
  /** The last row that retention has removed. */
  floor: AuditPosition;
  /** The last row. */
  end: AuditPosition;
  /** An earlier head that the operator has kept. */
  kept: AuditPosition | null;
}

export async function verifyChain(
  store: AuditStore,
  chainKey: KeyObject,
  keptHead?: string,
): Promise<AuditVerification> {
  const kept = keptHead === undefined ? null : readHead(keptHead);
  for (;;) {
    // The floor is read first, because it never passes a head that is read later.
    const floor = await store.readFloor();
    const end = await store.readHead();
    if (floor === null || end === null) return describeLostEnds(store);
    const found = await findBreak(store, chainKey, { floor, end, kept });
    if (found && (await hasRetentionPassed(store, floor, found))) continue;
    return {
      intact: found === null,
      first_seq: floor.seq + 1,
      last_seq: end.seq,
      head: `${end.seq}:${Buffer.from(end.hash).toString('hex')}`,
      fault: found,
    };
  }
}

/** Whether retention has removed the row in the meantime: it then looks as if somebody had deleted it. */
async function hasRetentionPassed(store: AuditStore, floor: AuditPosition, { seq }: Break): Promise<boolean> {
  const now = (await store.readFloor())?.seq ?? 0;
  return now > floor.seq && now >= seq;
}

/** The result if the row with the ends of the chain is missing. */
async function describeLostEnds(store: AuditStore): Promise<AuditVerification> {
  const [first] = await store.readAfter(0, 1);
  const seq = first?.seq ?? 1;
  const problem =
    'The row that says where the audit begins and ends (table audit_chain) is missing from the store. Nothing can be verified or recorded until a backup is restored.';
  const newest = await store.search({ beforeSeq: null, filters: {}, limit: 1, scanMax: 1 });
  const last_seq = newest.rows[0]?.seq ?? 0;
  return { intact: false, first_seq: seq, last_seq, head: null, fault: { seq, problem } };
}

async function findBreak(store: AuditStore, chainKey: KeyObject, chain: Chain): Promise<Break | null> {
  const { floor, end } = chain;
  if (floor.seq > end.seq) return { seq: end.seq, problem: 'The stored ends of the chain were changed.' };
  let place = floor;
  let found = checkPlace(place, chain);
  const pause = createPauses(SLICE_LENGTH);
  while (!found && place.seq < end.seq) {
    const rows = await store.readAfter(place.seq, Math.min(PAGE_ROWS, end.seq - place.seq));
    if (rows.length === 0) return describeGap(place.seq + 1, end.seq);
    for (const row of rows) {
      found = checkRow(row, place, chainKey, floor) ?? checkPlace(row, chain);
      if (found) break;
      place = row;
      await pause(row.record.length);
    }
  }
  return found ?? (await findRowBehind(store, end)) ?? checkKeptHead(chain);
}

function checkRow(
  row: AuditRow,
  before: AuditPosition,
  chainKey: KeyObject,
  floor: AuditPosition,
): Break | null {
  const { seq } = row;
  if (seq !== before.seq + 1) return describeGap(before.seq + 1, seq - 1);
  if (!isSame(hashRow(chainKey, before.hash, seq, row.record), row.hash)) {
    const problem =
      before === floor
        ? 'The first record was changed, or the stored place where the chain begins. If neither was, keys.hashSecret is another one than when it was written.'
        : 'The record was changed, or its hash.';
    return { seq, problem };
  }
  const view = readView(row);
  if (view.kind === 'damaged') return { seq, problem: 'What is chained there is no record of the audit.' };
  return Date.parse(view.time) === row.at
    ? null
    : { seq, problem: 'The time beside the record was changed.' };
}

/** If the row is the end of the chain or the kept head, compares its hash with that. */
function checkPlace(place: AuditPosition, { end, kept }: Chain): Break | null {
  const { seq } = place;
  if (seq === end.seq && !isSame(place.hash, end.hash)) {
    return { seq, problem: 'The stored end of the chain was changed: it is not this record.' };
  }
  if (seq === kept?.seq && !isSame(place.hash, kept.hash)) {
    return { seq, problem: 'This is not the record of the head that was given: the chain was written anew.' };
  }
  return null;
}

async function findRowBehind(store: AuditStore, end: AuditPosition): Promise<Break | null> {
  const [row] = await store.readAfter(end.seq, 1);
  if (!row || ((await store.readHead())?.seq ?? 0) >= row.seq) return null;
  return { seq: row.seq, problem: 'The stored end of the chain was changed: there are records behind it.' };
}

function checkKeptHead({ floor, end, kept }: Chain): Break | null {
  if (!kept) return null;
  const { seq } = kept;
  if (seq > end.seq) {
    const problem = `The chain ends at ${end.seq}, before the head that was given: records are missing at the end.`;
    return { seq, problem };
  }
  if (seq >= floor.seq) return null;
  const problem =
    'Retention has removed the record of the head that was given, so it proves nothing any more: give a later one.';
  return { seq, problem };
}

function describeGap(from: number, to: number): Break {
  const problem = from === to ? 'The record is missing.' : `The records ${from} to ${to} are missing.`;
  return { seq: from, problem };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

/** Parses a head. Null for the head of an empty chain, which every chain extends. */
function readHead(text: string): AuditPosition | null {
  const [, seq, hash] = HEAD.exec(text) ?? [];
  if (seq === undefined || hash === undefined) {
    throw new AuditQueryError('A head is <number>:<64 hex digits>, as an earlier verification printed it.');
  }
  return seq === '0' ? null : { seq: Number(seq), hash: Buffer.from(hash, 'hex') };
}
