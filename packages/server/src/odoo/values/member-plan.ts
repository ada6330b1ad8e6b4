/**
 * The members of the records of one shape in their order, in the form that packages/server/assembly/known-members.ts
 * reads: an entry for each member, and a last one for the end of a record with the first member of the next.
 */

/** What is done with a value of a field. */
export type Treatment = 'keep' | 'empty' | 'many2one' | 'reference' | 'datetime' | 'records';

/** Members that have entries. The others of a longer record are converted one by one. */
const MEMBERS_MAX = 400;
export const ENTRY_BYTES = 144;
export const PLAN_BYTES_MAX = (MEMBERS_MAX + 1) * ENTRY_BYTES;

/** A longer text has no entry. */
const TEXT_BYTES_MAX = 64;
const VECTOR_BYTES = 16;
const TEXT_LENGTH = 128;
const TREATMENT = 132;
const NEXT = 136;
/** Does not match any text, because these bits are outside its mask. */
const NO_MATCH = 0xff;
const TREATMENTS: Record<Treatment, number> = {
  keep: 0,
  empty: 1,
  many2one: 2,
  reference: 3,
  datetime: 4,
  records: 5,
};

interface Member {
  /** The bytes from the end of the value before to the value. */
  text: Uint8Array;
  treatment: Treatment;
}

export class MemberPlan {
  bytes: Uint8Array = new Uint8Array(0);
  /** The number of members, without the last entry. */
  length = 0;
  /** The range of the bytes that changed since the memory has them; null if none has. */
  changed: { start: number; end: number } | null = null;
  /** The place in the memory, which counts only in its present generation of plans. */
  address = 0;
  roomBytes = 0;
  generation = 0;
  #view: DataView = new DataView(this.bytes.buffer);
  #first: Member | null = null;
  /** The bytes from the end of a record to the first name of the next one. */
  #turn: Uint8Array | null = null;

  /** Whether the member at this index may be converted by the plan. */
  covers(index: number): boolean {
    return index < this.length || (index === this.length && this.#turn !== null && index > 0);
  }

  setMember(index: number, member: Member): void {
    if (index >= MEMBERS_MAX) return;
    if (index === 0) this.#first = member;
    const start = Math.min(index, this.length);
    const hasGrown = index >= this.length;
    if (hasGrown) this.#resize(index + 1);
    this.#write(index, member.text, member.treatment);
    const isTurnChanged = hasGrown || index === 0;
    if (isTurnChanged) this.#writeTurn();
    this.#note(start, isTurnChanged ? this.length : index);
  }

  setTurn(turn: Uint8Array): void {
    if (this.#turn !== null && Buffer.compare(this.#turn, turn) === 0) return;
    this.#turn = turn;
    if (this.length === 0) this.#resize(0);
    this.#writeTurn();
    this.#note(this.length, this.length);
  }

  /** Entries without a member match nothing. */
  #resize(length: number): void {
    const needed = (length + 1) * ENTRY_BYTES;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.min(PLAN_BYTES_MAX, 2 * needed));
      grown.set(this.bytes);
      this.bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    for (let index = this.length; index < length; index++) this.#write(index, null, 'keep');
    this.length = length;
  }

  #writeTurn(): void {
    const { length } = this;
    const turn = this.#turn;
    const first = this.#first;
    const text = turn === null || first === null ? null : Buffer.concat([turn, first.text]);
    this.#write(length, text, first?.treatment ?? 'keep');
    this.#view.setInt32(length * ENTRY_BYTES + NEXT, (1 - length) * ENTRY_BYTES, true);
  }

  #write(index: number, text: Uint8Array | null, treatment: Treatment): void {
    const start = index * ENTRY_BYTES;
    const bytes = this.bytes.fill(0, start, start + ENTRY_BYTES);
    if (text === null || text.length > TEXT_BYTES_MAX) bytes[start] = NO_MATCH;
    else
      for (let at = 0; at < text.length; at += VECTOR_BYTES) {
        const vector = start + 2 * at;
        const part = text.subarray(at, at + VECTOR_BYTES);
        bytes.set(part, vector);
        bytes.fill(0xff, vector + VECTOR_BYTES, vector + VECTOR_BYTES + part.length);
      }
    this.#view.setUint32(start + TEXT_LENGTH, text?.length ?? 0, true);
    this.#view.setUint32(start + TREATMENT, TREATMENTS[treatment], true);
    this.#view.setInt32(start + NEXT, ENTRY_BYTES, true);
  }

  #note(firstIndex: number, lastIndex: number): void {
    const start = firstIndex * ENTRY_BYTES;
    const end = (lastIndex + 1) * ENTRY_BYTES;
    const { changed } = this;
    this.changed =
      changed === null
        ? { start, end }
        : { start: Math.min(start, changed.start), end: Math.max(end, changed.end) };
  }
}
