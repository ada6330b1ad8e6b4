/** Collects the changes of other models by a call that the policy does not allow: the first one, and a few more. */
import type { NamedRecord } from './named-records.ts';

export interface RelatedWrite {
  member: string;
  model: string;
  /** The method with which a direct call would make the change. */
  method: RelatedMethod;
}

export type WriteMethod = 'create' | 'write' | 'unlink';
/**
 * `create`, `write`, `unlink`, a method of business logic that a member of the context makes Odoo run, or `read`, which
 * stands for any method that shows records: a link names a record, and does not change it.
 */
export type RelatedMethod = string;

/** A member whose commands change something that cannot be determined. */
export interface UnknownMember {
  unknown: string;
  /** The model that does not describe the member; null: a default, which can reach any model. */
  of: string | null;
}

/** A member that names a record whose model only the server knows. */
export interface UnknownRecord {
  names: string;
  /** The field that would name the model. */
  by: string;
  /** True: the member is the id of the model. */
  isModel: boolean;
}

/** The result if the call has too much to search through. */
export const UNDETERMINED = 'undetermined';

export type Allows = (model: string, method: RelatedMethod) => boolean;
export type Found = RelatedWrite | UnknownMember | UnknownRecord | typeof UNDETERMINED | null;

/** Sets of methods, as bits. */
export const CREATE = 1;
export const WRITE = 2;
export const UNLINK = 4;
export const READ = 8;
export const ALL = CREATE | WRITE | UNLINK;
/** The methods in the order of their bits. */
const METHODS: readonly RelatedMethod[] = ['create', 'write', 'unlink', 'read'];

/**
 * Stands for the model of a record whose model cannot be determined. Only a policy that allows the method for all
 * models allows it.
 */
export const ANY_MODEL = '*';
/** Maximum number of further changes that are named at once. */
const OTHERS_MAX = 4;

export class RelatedFindings {
  /** The first change that is not allowed, or the reason why the changes cannot be determined; null: no such change. */
  found: Found = null;
  readonly others: RelatedWrite[] = [];
  /** True if the rest of the call need not be searched. */
  isOver = false;
  readonly allows: Allows;
  readonly #denied = new Map<string, number>();

  constructor(allows: Allows) {
    this.allows = allows;
  }

  /** The methods that are not allowed for the model, as bits. */
  findDenied(model: string): number {
    const known = this.#denied.get(model);
    if (known !== undefined) return known;
    const denied = METHODS.reduce(
      (bits, method, index) => (this.allows(model, method) ? bits : bits | (1 << index)),
      0,
    );
    this.#denied.set(model, denied);
    return denied;
  }

  /** Records each of the methods that is denied. True if the search is over. */
  check(
    member: string,
    { relation, denied }: { relation: string; denied: number },
    methods: number,
  ): boolean {
    for (const [index, method] of METHODS.entries()) {
      if ((methods & denied & (1 << index)) !== 0) this.deny({ member, model: relation, method });
    }
    return this.isOver;
  }

  /** True if the search is over. */
  deny(write: RelatedWrite): boolean {
    if (this.found === null) this.found = write;
    else if (![this.found, ...this.others].some((each) => isSameEntry(each, write))) this.others.push(write);
    if (this.others.length === OTHERS_MAX) this.isOver = true;
    return this.isOver;
  }

  /**
   * Ends the search at a member that names a record whose model only the server knows, unless all models may be read.
   */
  stopAtRecord(member: string, { by, names }: NamedRecord): void {
    if (!this.allows(ANY_MODEL, 'read')) this.stop({ names: member, by, isModel: names === 'model_id' });
  }

  stop(found: Exclude<Found, RelatedWrite | null>): true {
    this.found ??= found;
    this.isOver = true;
    return true;
  }
}

function isSameEntry(found: Exclude<Found, null>, { model, method }: RelatedWrite): boolean {
  return typeof found === 'object' && 'model' in found && found.model === model && found.method === method;
}
