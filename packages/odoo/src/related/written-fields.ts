/**
 * Determines what setting a field changes in other models: by the type of the field if it is known, by the tables of
 * names, and by what Odoo writes elsewhere when the field is set. Keeps all results for the call.
 */

import { type JsonSpan, someMember } from '@erp-proxy/json';
import { findMember } from '../sensitive/member-names.ts';
import { DEFAULT } from '../sensitive/name-filter.ts';
import type { SensitiveMember } from '../sensitive/sensitive-members.ts';
import { findWrittenModels, listLinkedModels, type WrittenModel } from '../sensitive/written-models.ts';
import type { LearntTypes } from '../values/field-types.ts';
import { CREATE, READ, type RelatedFindings, UNDETERMINED, UNLINK, WRITE } from './related-findings.ts';
import { COMMANDS } from './x2many-commands.ts';

/** A member that is in the table of names, with the name that the call used. */
export interface ListedMember {
  member: SensitiveMember;
  name: string;
  /** Methods that the policy does not allow, as a set of bits. */
  denied: number;
}

/** An x2many field, according to its type. */
export interface RelationField {
  name: string;
  /** The model of its records. */
  relation: string;
  /** The methods that each command needs, as sets of bits, in the order of COMMANDS. */
  methods: readonly number[];
  denied: number;
}

/**
 * What the type of a field says. `none`: the field takes no commands. `lacking`: the type is not known yet. `missing`:
 * the server describes no type.
 */
export type Typed = RelationField | 'none' | 'lacking' | 'missing';

/** The record whose field is set. */
export interface WrittenRecord {
  isNew: boolean;
  /** The record is new, and the call gives all of its values. */
  isOwn: boolean;
  /** The name of the field is that of a default: `default_x`. */
  isDefault?: boolean;
  /** The value is null or false, which makes nobody a follower. */
  isEmpty?: boolean;
}

const FOLLOWERS = 'mail.followers';
/** Maximum number of different names that are in the table or resemble a name there. Normal calls have few. */
const MEMBERS_MAX = 1000;

export class WrittenFields {
  /** By model: fields whose types are needed too. */
  readonly lacking = new Map<string, Set<string>>();
  readonly #bytes: Uint8Array;
  readonly #findings: RelatedFindings;
  readonly #learnt: LearntTypes;
  #arguments: readonly JsonSpan[] = [];
  /** The last look-up of each name. */
  readonly #listed = new Map<string, { model: string | null; listed: ListedMember | null }>();
  readonly #typed = new Map<string, Map<string, Typed>>();
  #typedNames = 0;
  /** Whether the call has a member of this name. */
  readonly #names = new Map<string, boolean>();

  constructor(bytes: Uint8Array, findings: RelatedFindings, learnt: LearntTypes) {
    this.#bytes = bytes;
    this.#findings = findings;
    this.#learnt = learnt;
  }

  /** All arguments of the call: a new record is linked to another one if any of them has the field. */
  setArguments(values: readonly JsonSpan[]): void {
    this.#arguments = values;
  }

  /** The type of a field. `text`: its name in the call, such as `default_line_ids`. */
  findTyped(owner: string, name: string, text: string): Typed {
    const ofOwner = this.#typed.get(owner) ?? new Map<string, Typed>();
    const known = ofOwner.get(text);
    if (known !== undefined) return known;
    const typed = this.#readType(owner, name, text);
    if (++this.#typedNames > MEMBERS_MAX) this.#findings.stop(UNDETERMINED);
    this.#typed.set(owner, ofOwner.set(text, typed));
    return typed;
  }

  #readType(owner: string, name: string, text: string): Typed {
    const field = this.#learnt.types.get(owner)?.get(name);
    if (field === undefined) {
      if (this.#learnt.asked.get(owner)?.has(name)) return 'missing';
      const names = this.lacking.get(owner) ?? new Set();
      this.lacking.set(owner, names.add(name));
      return 'lacking';
    }
    const { type, relation } = field;
    if (type !== 'one2many' && type !== 'many2many') return 'none';
    if (relation === null) return 'missing';
    const form =
      type === 'one2many' ? 'lines' : isGrant(findMember(name, owner), relation) ? 'relation' : 'links';
    return {
      name: text,
      relation,
      methods: METHODS_OF_COMMANDS[form],
      denied: this.#findings.findDenied(relation),
    };
  }

  /** The row for the name in the table of names; null: none. */
  findListed(name: string, model: string | null): ListedMember | null {
    const known = this.#listed.get(name);
    if (known !== undefined && known.model === model) return known.listed;
    const member = findMember(name, model);
    const listed = member && this.describe(member, name);
    if (this.#listed.size === MEMBERS_MAX) this.#findings.stop(UNDETERMINED);
    else this.#listed.set(name, { model, listed });
    return listed;
  }

  describe(member: SensitiveMember, name: string): ListedMember {
    return { member, name, denied: this.#findings.findDenied(member.model) };
  }

  /** Checks at once a field whose value is stored in another record, because any value changes the other record. */
  checkListed(name: string, model: string | null): ListedMember | null {
    const listed = this.findListed(name, model);
    if (listed?.member.form !== 'values') return listed;
    // Among values of the model that stores the field, the field changes no other record.
    if (listed.member.model !== model)
      this.#findings.check(listed.name, { relation: listed.member.model, denied: listed.denied }, WRITE);
    return null;
  }

  /** Checks what setting a field of the model changes in other models, by nearly any value. */
  checkWritten(name: string, owner: string, { isNew, isOwn, isDefault, isEmpty }: WrittenRecord): void {
    const field = isDefault ? name.slice(DEFAULT.length) : name;
    for (const row of findWrittenModels(owner, field)) {
      const isEffective =
        !(isNew && row.isOfExisting) &&
        !(isOwn && this.#isUnlinked(row)) &&
        !(isEmpty && row.model === FOLLOWERS) &&
        (!row.isOfDeleted || this.#findings.allows(owner, 'unlink'));
      if (isEffective && !this.#findings.allows(row.model, row.method))
        this.#findings.deny({ member: name, model: row.model, method: row.method });
    }
  }

  /**
   * Checks what a copy changes in other models: it has the values of its source, and the call can link it to other
   * records.
   */
  checkCopied(model: string): void {
    for (const { model: changed, method, linkedBy } of listLinkedModels(model)) {
      const link = linkedBy?.find((name) => this.#has(name) || this.#has(`${DEFAULT}${name}`));
      if (link !== undefined && !this.#findings.allows(changed, method))
        this.#findings.deny({ member: link, model: changed, method });
    }
  }

  /** Whether the call links its new record to no record that the field would change. */
  #isUnlinked({ linkedBy }: WrittenModel): boolean {
    return linkedBy !== null && !linkedBy.some((name) => this.#has(name) || this.#has(`${DEFAULT}${name}`));
  }

  #has(name: string): boolean {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const has = this.#arguments.some((value) => someMember(this.#bytes, value, [name], () => true));
    this.#names.set(name, has);
    return has;
  }
}

/** Whether linking a record, without changing it, changes rights. */
function isGrant(member: SensitiveMember | null, relation: string): boolean {
  return member?.form === 'relation' && member.model === relation;
}

/**
 * Methods for each command, in the order of COMMANDS. A record that is removed from a one2many field can be deleted.
 * `links`: a many2many field whose links change nothing in the other record.
 */
export const METHODS_OF_COMMANDS: Record<SensitiveMember['form'] | 'links', readonly number[]> = {
  lines: [CREATE, WRITE, UNLINK, WRITE | UNLINK, WRITE, WRITE | UNLINK, WRITE | UNLINK],
  links: [CREATE, WRITE, UNLINK, READ, READ, READ, READ],
  relation: [CREATE, WRITE, UNLINK, WRITE, WRITE, WRITE, WRITE],
  reference: [CREATE, WRITE, UNLINK, 0, 0, 0, 0],
  linked: [WRITE, 0, WRITE, WRITE, WRITE, WRITE, WRITE],
  values: [],
  free: [],
};
const UNLINK_COMMAND = COMMANDS.indexOf('unlink');

/** Whether the command only links or unlinks records. */
export function isLink(command: number | null): boolean {
  return command !== null && command >= UNLINK_COMMAND;
}
