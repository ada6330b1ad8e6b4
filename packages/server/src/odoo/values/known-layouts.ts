/**
 * Keeps what is known of the members of recent results. A result of the same fields then needs no reading member by
 * member, which is most of the work for a result of a few records. A layout has one user at a time.
 */
import { LRUCache } from 'lru-cache';
import type { FieldTypes } from './field-types.ts';
import { type Layout, layOut } from './record-layout.ts';
import type { RecordShape } from './record-shape.ts';

/** Together with the limits of a layout, about 12 MiB. */
const LAYOUTS_MAX = 200;
const MEMBERS_MAX = 64;
const MEMBER_BYTES_MAX = 256;
const NAMES_LENGTH_MAX = 4096;

/** A layout without its shape: the types of a model's fields can be large, and are not kept here. */
type KnownMembers = Pick<Layout, 'slots' | 'plan'>;

export class KnownLayouts {
  readonly #members = new LRUCache<string, KnownMembers>({ max: LAYOUTS_MAX });
  /** Types are the same as long as their map is the same. */
  readonly #numbers = new WeakMap<FieldTypes, number>();
  #count = 0;

  /** Returns a layout that nobody else uses. */
  take(shape: RecordShape): Layout {
    const name = this.#nameShape(shape);
    const known = name === null ? undefined : this.#members.get(name);
    if (name === null || known === undefined) return layOut(shape);
    this.#members.delete(name);
    return { ...layOut(shape), ...known };
  }

  /** For a layout that describes all records of its result, and has only fields with types. */
  giveBack({ shape, slots, plan }: Layout): void {
    const name = this.#nameShape(shape);
    const isSmall = slots.length <= MEMBERS_MAX && slots.every(({ text }) => text.length <= MEMBER_BYTES_MAX);
    if (name !== null && isSmall) this.#members.set(name, { slots, plan });
  }

  /** Null for a shape whose layouts are not kept. */
  #nameShape({ types, names, nested }: RecordShape): string | null {
    if (nested.size > 0 || names.length > MEMBERS_MAX) return null;
    let length = 0;
    for (const name of names) length += name.length;
    if (length > NAMES_LENGTH_MAX) return null;
    const number = this.#numbers.get(types) ?? ++this.#count;
    this.#numbers.set(types, number);
    return `${number} ${JSON.stringify(names)}`;
  }
}
