/** Names the records that a call concerns, for the person who is asked about it. */
import type { ConcernedRecord, ConcernedRecords } from '@erp-proxy/contract';
import type { InstanceRecord } from '@erp-proxy/control/instances';
import { nameRecords, type ReadableField, type RecordReader } from '@erp-proxy/gateway/naming';
import { mayCall } from '@erp-proxy/policy/abilities';
import { asRows } from './as-rows.ts';
import { quoteText } from './print-arguments.ts';
import type { Session } from './session.ts';
import { ToolError } from './tool-error.ts';

const NAME_LENGTH_MAX = 80;

export interface Target {
  model: string;
  /** Empty if the method is one of the model itself. */
  ids?: readonly number[] | undefined;
  instance?: string | undefined;
  /** A noun for one of the records. */
  noun?: string | undefined;
}

export interface DescribedCall extends Target {
  method: string;
  /** The positional arguments after the ids. */
  positional?: readonly unknown[];
  keyword?: Readonly<Record<string, unknown>>;
}

/**
 * `target`: the records whose method is called, on their server. `others`: the further records that the call concerns,
 * as a text to add to the sentence; empty if there are none.
 */
export async function describeRecords(
  { model, ids = [], instance, noun = 'record', method, positional = [], keyword = {} }: DescribedCall,
  session: Session,
): Promise<{ target: string; others: string }> {
  const on = await session.pickInstance(instance);
  // Without ids, null stands for them, so that the first argument is not read as ids.
  const call = { model, method, positional: [ids.length > 0 ? ids : null, ...positional], keyword };
  const parts = await nameRecords(call, new SessionReader(session, on));
  const records = parts.find(({ part }) => part === 'records');
  return {
    target: records === undefined ? `${model} on ${on.name}` : printTarget(records, noun, on.name),
    others: parts.map(printPart).join(''),
  };
}

function printTarget({ model, count, records }: ConcernedRecords, noun: string, on: string): string {
  const what = `${printCount(count, noun)} of ${model} on ${on}`;
  const isNamed = records.some(
    ({ name, ...told }) => printTold({ ...told, id: 0 }).length > 1 || name !== null,
  );
  if (isNamed || records.length === 1) return `${what}: ${printRecords(records, count)}`;
  return `${what} (ids ${records.map(({ id }) => id).join(', ')}${printMore(records, count)})`;
}

function printPart({ part, model, field, count, records }: ConcernedRecords): string {
  switch (part) {
    case 'records':
      return '';
    case 'dialog':
      return `, for ${printCount(count, 'record')} of ${model}: ${printRecords(records, count)}`;
    case 'partners':
      return `, to ${printRecords(records, count)}`;
    case 'followers':
      return count === 0 ? '' : `, with mail to its ${printFollowers(records, count)}`;
    case 'removed':
      return `, removing from ${field}: ${printRecords(records, count)}`;
  }
}

function printFollowers(records: readonly ConcernedRecord[], count: number | null): string {
  if (count === null) return 'followers';
  const areNamed = records.some(({ name }) => name !== null);
  return areNamed ? `followers ${printRecords(records, count)}` : printCount(count, 'follower');
}

function printCount(count: number | null, noun: string): string {
  return count === 1 ? `one ${noun}` : `${count} ${noun}s`;
}

function printRecords(records: readonly ConcernedRecord[], count: number | null): string {
  return records.map(printRecord).join(', ') + printMore(records, count);
}

function printMore(records: readonly ConcernedRecord[], count: number | null): string {
  return count !== null && count > records.length ? ' and others' : '';
}

/** E.g. `“S00004” (id 4, “Gemini Furniture”, “Sales Order”)`. */
function printRecord(record: ConcernedRecord): string {
  const told = printTold(record).join(', ');
  if (record.name !== null) return `${quoteText(record.name, NAME_LENGTH_MAX)} (${told})`;
  return told.includes(', ') ? `(${told})` : told;
}

function printTold({ id, partner, order, state, stage }: Omit<ConcernedRecord, 'name'>): string[] {
  const texts = [partner, order, state, stage].filter((text) => text !== null);
  return [`id ${id}`, ...texts.map((text) => quoteText(text, NAME_LENGTH_MAX))];
}

/** Reads by calls of the session, which the policy of the key checks. */
class SessionReader implements RecordReader {
  readonly #session: Session;
  readonly #instance: InstanceRecord;

  constructor(session: Session, instance: InstanceRecord) {
    this.#session = session;
    this.#instance = instance;
  }

  async fields(model: string): Promise<ReadonlyMap<string, ReadableField> | null> {
    const known = await this.#unlessRefused(() => this.#session.fields(this.#instance, model));
    return known && this.#session.omitUnnamed(known);
  }

  async read(
    model: string,
    ids: readonly number[],
    names: readonly string[],
  ): Promise<Record<string, unknown>[] | null> {
    if (!mayCall(this.#session.policy, model, 'read')) return null;
    const rows = await this.#unlessRefused(() =>
      this.#session.call(this.#instance, model, 'read', [ids, names]),
    );
    return rows === null ? null : asRows(rows);
  }

  async #unlessRefused<Value>(ask: () => Promise<Value>): Promise<Value | null> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof ToolError) return null;
      throw error;
    }
  }
}
