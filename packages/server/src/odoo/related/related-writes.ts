/**
 * Finds changes of other models that a call makes through the values of its own record: x2many commands, paths of
 * `load`, fields that are stored in the other record, defaults and other members of the context. If the model of the
 * values is known, the types of its fields tell what a command changes. Otherwise, a table of names does. If it cannot
 * be determined, the answer is yes. Knows no policy.
 */
import { isEmptyArray } from '../../json/empty-array.ts';
import { readMembers } from '../../json/members.ts';
import { decodeName } from '../../json/name.ts';
import { skipWhiteSpace } from '../../json/scan.ts';
import { readKind, skipString } from '../../json/skip.ts';
import type { ByteRange, JsonSpan } from '../../json/span.ts';
import { decodeString } from '../../json/string.ts';
import { someMember, someString } from '../../json/strings.ts';
import { type Arguments, findArgument, POSITIONAL_MAX } from '../arguments.ts';
import { isWriteMethod } from '../methods.ts';
import { findMember, MEMBER_NAMES } from '../sensitive/member-names.ts';
import { DEFAULT, makeNameFilter } from '../sensitive/name-filter.ts';
import { SENSITIVE_ARGUMENTS, type SensitiveMember } from '../sensitive/sensitive-members.ts';
import { couldBeWritten, findWrittenModels, type WrittenModel } from '../sensitive/written-models.ts';
import type { LearntTypes } from '../values/field-types.ts';
import { ATTACHMENT_ARGUMENT, ATTACHMENTS, listAttachmentArguments } from './attachment-arguments.ts';
import { COMODEL, findNamedRecord, NAMING_FIELDS, type NamedRecord } from './named-records.ts';
import { listRelatedArguments } from './related-arguments.ts';
import { listContextWrites } from './related-context.ts';
import {
  CLEAR,
  COMMANDS,
  type CommandVisitor,
  NEW,
  someCommand,
  someValueCommand,
} from './x2many-commands.ts';

export interface RelatedWrite {
  member: string;
  model: string;
  /** The method that a direct call would use. */
  method: RelatedMethod;
}

export type WriteMethod = 'create' | 'write' | 'unlink';
/** `read` stands for any method that shows records: a link names a record, and does not change it. */
export type RelatedMethod = WriteMethod | 'read';

/** A member with commands of which nobody can tell what they change. */
export interface UnknownMember {
  unknown: string;
  /** The model that does not describe the member; null: a default, which can reach any model. */
  of: string | null;
}

/** A member that names a record of a model that only the server knows. */
export interface UnknownRecord {
  names: string;
  /** The field that would name the model. */
  by: string;
  /** It is the id of the model. */
  isModel: boolean;
}

/** The result if the call has too much to search. */
export const UNDETERMINED = 'undetermined';

type Allows = (model: string, method: RelatedMethod) => boolean;
type Found = RelatedWrite | UnknownMember | UnknownRecord | typeof UNDETERMINED | null;

export interface RelatedWrites {
  /** The first change that is not allowed; null: none. */
  found: Found;
  /** Further ones, with other models or methods: some, if there are many. */
  others: readonly RelatedWrite[];
  /** By model: fields whose types decide too. Without them, only the table of names was applied. */
  lacking: ReadonlyMap<string, ReadonlySet<string>>;
}

export const NO_RELATED_WRITES: RelatedWrites = { found: null, others: [], lacking: new Map() };

export const NOTHING_LEARNT: LearntTypes = { types: new Map(), asked: new Map() };

/** Only for calls of methods that may write. */
export function findRelatedWrites(
  model: string,
  method: string,
  call: Arguments,
  allows: Allows,
  learnt: LearntTypes = NOTHING_LEARNT,
): RelatedWrites {
  const search = new Search(call.bytes, { model, method }, allows, learnt);
  search.findInCall(call);
  return { found: search.found, others: search.others, lacking: search.lacking };
}

/** Methods whose objects are values of their own model. Odoo refuses fields that it does not have. */
const VALUE_METHODS: ReadonlySet<string> = new Set([
  'create',
  'write',
  'copy',
  'web_save',
  'web_save_multi',
  'onchange',
]);
/** Methods that only make a new record, or describe one. */
const NEW_RECORD_METHODS: ReadonlySet<string> = new Set(['create', 'name_create', 'default_get']);
/** Methods of mail.thread take fields of a message by name. */
const MESSAGE_METHODS = 'message_';
const MESSAGE = 'mail.message';
/** Methods of mail.activity.mixin take fields of an activity by name. */
const ACTIVITY_METHODS = 'activity_schedule';
const ACTIVITIES = 'mail.activity';
/** Named arguments that are no fields, of methods that nobody knows. */
const NO_FIELDS: ReadonlySet<string> = new Set(['ids', 'context', 'domain', 'fields', 'fields_list']);

/** Arguments that name fields and contain no values. */
function listSkipped(method: string, call: Arguments): JsonSpan[] {
  return listRelatedArguments(method)
    .filter(({ form }) => form !== 'whole' && form !== 'specifications')
    .flatMap(({ name, position }) => findArgument(call, position, name));
}

const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const OF_FALSE = 0x66;
const OF_NULL = 0x6e;

/** Maximum number of names with escapes, because these have to be decoded. Names of fields have no escapes. */
const ESCAPED_NAMES_MAX = 1000;

/** Maximum number of different names that are in the table or look like it. Normal calls have few. */
const MEMBERS_MAX = 1000;

/** A member that is in the table, with the name that was used. */
interface ListedMember {
  member: SensitiveMember;
  name: string;
  /** Bits of METHODS: methods that the policy does not allow. */
  denied: number;
}

/** An x2many field, as its type says. */
interface RelationField {
  name: string;
  /** The model of its records. */
  relation: string;
  /** Bits of METHODS, in the order of COMMANDS. */
  methods: readonly number[];
  denied: number;
}

/** What a type says of a field. `none`: it has no commands. `lacking`: the type is not known. `missing`: no type. */
type Typed = RelationField | 'none' | 'lacking' | 'missing';

/** The place of values: a record that Odoo refuses with unknown fields, a context, or perhaps a record. */
type Place = 'values' | 'context' | 'perhaps';

interface FoundField {
  listed: ListedMember | null;
  /** The model that the field would be of; null: not known, so that only the table applies. */
  owner: string | null;
  place: Place;
  /** Its quoted name in the call, or the name itself. */
  named: ByteRange | string;
  /** Null until a command was seen. */
  typed: Typed | null;
  /** Clearing the field is no change: its record is new, or types of fields around it will tell. */
  ignoresClear: boolean;
  /** The last command that was seen. */
  command: number | null;
}

/** The record whose field is set. */
interface WrittenRecord {
  isNew: boolean;
  /** It is new, and the call gives all of its values. */
  isOwn: boolean;
  /** The name is that of a default for the field. */
  isDefault?: boolean;
}

class Search implements CommandVisitor<FoundField> {
  found: Found = null;
  readonly others: RelatedWrite[] = [];
  readonly lacking = new Map<string, Set<string>>();
  #isOver = false;
  readonly #bytes: Uint8Array;
  readonly #model: string;
  readonly #method: string;
  readonly #allows: Allows;
  readonly #learnt: LearntTypes;
  /** The model of the values at the first level; null: not known. */
  #valuesModel: string | null = null;
  #place: Place = 'perhaps';
  #escapedNames = 0;
  /** The last look-up of each name. */
  readonly #members = new Map<string, { model: string | null; listed: ListedMember | null }>();
  /** Whether the call has a member of this name. */
  readonly #names = new Map<string, boolean>();
  #arguments: readonly JsonSpan[] = [];
  /** Those that can have values of records. */
  #values: readonly JsonSpan[] = [];
  readonly #denied = new Map<string, number>();
  readonly #typed = new Map<string, Map<string, Typed>>();
  #typedNames = 0;

  constructor(
    bytes: Uint8Array,
    { model, method }: { model: string; method: string },
    allows: Allows,
    learnt: LearntTypes,
  ) {
    this.#bytes = bytes;
    this.#model = model;
    this.#method = method;
    this.#allows = allows;
    this.#learnt = learnt;
  }

  findInCall(call: Arguments): void {
    if (call.positional.length === POSITIONAL_MAX) {
      this.#stop(UNDETERMINED);
      return;
    }
    this.#arguments = [...call.positional, ...call.named.map(({ value }) => value)];
    const skipped = listSkipped(this.#method, call);
    const contexts = call.named.filter(({ name }) => name === 'context').map(({ value }) => value);
    this.#values = this.#arguments.filter((value) => !skipped.includes(value) && !contexts.includes(value));
    if (this.#findAttachments(call)) return;
    const place: Place = VALUE_METHODS.has(this.#method) ? 'values' : 'perhaps';
    for (const value of call.positional) {
      if (!skipped.includes(value) && this.#findIn(value, this.#model, place)) return;
    }
    for (const { name, value } of call.named) {
      if (this.#findInArgument(name, value) || this.#findInActivity(name, value)) return;
      if (skipped.includes(value)) continue;
      if (name === 'context') {
        if (this.#findInContext(value)) return;
      } else if (this.#findInNamed(name, value) || this.#findIn(value, this.#model, place)) return;
    }
    if (this.#method === 'load') this.#findInColumns(call);
  }

  #findIn(value: JsonSpan, model: string | null, place: Place): boolean {
    this.#valuesModel = model;
    this.#place = place;
    return someCommand(this.#bytes, value, this) || this.#isOver;
  }

  /**
   * For an argument that can be the value of a field, as in `action_set_lost(**values)`. A link there may have another
   * meaning.
   */
  #findInNamed(name: string, value: JsonSpan): boolean {
    const member = findMember(name, this.#model);
    if (this.#takesValuesByName()) {
      this.#judgeWritten(name, this.#model, { isNew: false, isOwn: false });
      if (member?.form === 'values') this.#findListed(name, this.#model);
    }
    if (this.#isOver) return true;
    const listed = member === null || member.form === 'values' ? null : this.#describeNamed(member, name);
    const owner = this.#findOwnerOfNamed(name, value);
    if (listed === null && owner === null) return false;
    this.#valuesModel = null;
    const field: FoundField = {
      listed,
      owner,
      place: 'perhaps',
      named: name,
      typed: null,
      ignoresClear: false,
      command: null,
    };
    return someValueCommand(this.#bytes, value, field, this) || this.#isOver;
  }

  #describeNamed(member: SensitiveMember, name: string): ListedMember {
    const form = member.form === 'free' || member.form === 'linked' ? member.form : 'reference';
    return this.#describe({ ...member, form }, name);
  }

  /** The model of which a named argument can be a field with commands; null: it is none. */
  #findOwnerOfNamed(name: string, value: JsonSpan): string | null {
    if (value.kind !== 'array' || NO_FIELDS.has(name)) return null;
    if (this.#method.startsWith(MESSAGE_METHODS)) return this.#hasCommands(value) ? MESSAGE : null;
    return this.#takesValuesByName() ? this.#model : null;
  }

  /** Whether named arguments can be fields of the model. */
  #takesValuesByName(): boolean {
    const method = this.#method;
    const isOfOther = [MESSAGE_METHODS, ACTIVITY_METHODS].some((start) => method.startsWith(start));
    return !isOfOther && !VALUE_METHODS.has(method) && !isWriteMethod(method);
  }

  #hasCommands({ start, end }: JsonSpan): boolean {
    return this.#bytes[skipWhiteSpace(this.#bytes, start + 1, end)] === OPEN_ARRAY;
  }

  #findInContext(context: JsonSpan): boolean {
    // Python converts a list of pairs into an object.
    if (context.kind === 'array' && !isEmptyArray(this.#bytes, context)) {
      this.#stop(UNDETERMINED);
      return true;
    }
    const row = listContextWrites(this.#bytes, context, this.#method).find(
      ({ model, method }) => !this.#allows(model, method),
    );
    if (row !== undefined && this.#deny({ member: row.name, model: row.model, method: row.method }))
      return true;
    if (takesDefaults(this.#method)) {
      someMember(this.#bytes, context, [ACTIVE_MODEL], (at) => {
        this.#findNamedModel(ACTIVE_MODEL, at);
        return this.#isOver;
      });
      if (this.#isOver) return true;
    }
    // A context applies to everything that the method creates, also of other models.
    return this.#findIn(context, null, 'context');
  }

  /** Whether the argument itself, whatever its value, needs a method that is not allowed. */
  #findInArgument(name: string, value: JsonSpan): boolean {
    const row = SENSITIVE_ARGUMENTS.find(
      ({ names, methods }) => names.includes(name) && this.#method.startsWith(methods),
    );
    if (row === undefined || isOmitted(this.#bytes, value) || this.#allows(row.model, row.method))
      return false;
    return this.#deny({ member: name, model: row.model, method: row.method });
  }

  /** Named arguments of `activity_schedule` are values of the new activity. Its record is one of the call. */
  #findInActivity(name: string, value: JsonSpan): boolean {
    if (!this.#method.startsWith(ACTIVITY_METHODS) || isOmitted(this.#bytes, value)) return false;
    this.#place = 'values';
    this.#findNamedRecord(name, { model: ACTIVITIES, isNew: true, hasValues: false }, value.start);
    return this.#isOver;
  }

  #findAttachments(call: Arguments): boolean {
    const given = listAttachmentArguments(this.#method, call);
    if (given.every((value) => isOmitted(this.#bytes, value)) || this.#allows(ATTACHMENTS, 'read'))
      return false;
    return this.#deny({ member: ATTACHMENT_ARGUMENT, model: ATTACHMENTS, method: 'read' });
  }

  findField(name: ByteRange, depth: number, within: FoundField | null, value: number): FoundField | null {
    if (this.#isOver) return null;
    // At no depth, a name is that of a pair.
    const isFirst = within === null && (depth === 1 || depth === 0);
    const model = within === null ? (isFirst ? this.#valuesModel : null) : findRelation(within);
    const isDefault = isFirst && this.#place === 'context';
    const isNew = isFirst ? isDefault || this.#method === 'create' : within?.command === NEW;
    const isOwn = isFirst && this.#place !== 'perhaps' && NEW_RECORD_METHODS.has(this.#method);
    // A default applies to new records of the model, among others.
    const written = isDefault ? this.#model : model;
    const text = this.#readName(
      name,
      (bytes, at) => couldMatter(bytes, at) || (written !== null && couldBeWritten(written, bytes, at)),
    );
    if (text !== null && written !== null && (!isDefault || text.startsWith(DEFAULT)))
      this.#judgeWritten(text, written, { isNew, isOwn, isDefault });
    // Without a model, only rows for all models were looked up.
    if (isDefault && text !== null) this.#findListed(text, this.#model);
    const listed = text === null ? null : this.#findListed(text, model);
    if (this.#isOver) return null;
    const isOpen = within !== null && within.owner !== null && within.typed === 'lacking';
    const owner = isDefault ? this.#findOwnerOfDefault(name) : isOpen ? null : model;
    const isEmpty = this.#isOneOf(value, OF_NULL, OF_FALSE);
    const place = isFirst ? this.#place : typeof within?.typed === 'object' ? 'values' : 'perhaps';
    if (text !== null && !isEmpty)
      this.#findNamedRecord(text, { model, isNew, hasValues: isFirst && place === 'values' }, value);
    if (this.#isOver) return null;
    // Types tell it for names within lists of values, once those of the fields around them are known.
    const isOpenList = within === null && !isFirst && this.#place === 'values';
    const ignoresClear = isNew || isOpenList;
    if (isEmpty && ignoresClear) return null;
    const found = { listed, named: name, typed: null, ignoresClear, command: null };
    if (owner === null || !(isEmpty || this.#isOneOf(value, OPEN_ARRAY, OPEN_OBJECT)))
      return listed && { ...found, owner: null, place: 'perhaps' };
    return { ...found, owner, place };
  }

  /** Judges a field that names a record of any model. */
  #findNamedRecord(
    text: string,
    { model, isNew, hasValues }: { model: string | null; isNew: boolean; hasValues: boolean },
    value: number,
  ): void {
    if (text === COMODEL) {
      this.#findNamedModel(text, value);
      return;
    }
    const isOfContext = this.#place === 'context' && text.startsWith(DEFAULT);
    const field = isOfContext ? text.slice(DEFAULT.length) : text;
    const owner = isOfContext ? this.#model : model;
    const named = owner === null ? null : findNamedRecord(owner, field);
    if (named?.names === 'model' || (isOfContext && field === RES_MODEL)) this.#findNamedModel(text, value);
    else if (named?.names === 'model_id') this.#stopAtRecord(text, named);
    else if (named?.names === 'id' && !isNew && !(hasValues && this.#givesModel(named)))
      this.#stopAtRecord(text, named);
  }

  /** A link to records of a model that the call names by a text. */
  #findNamedModel(member: string, start: number): void {
    if (readKind(this.#bytes, start) !== 'string') return;
    const end = skipString(this.#bytes, start);
    if (end - start === EMPTY_TEXT) return;
    if (end - start > MODEL_LENGTH_MAX) this.#stop(UNDETERMINED);
    else {
      const model = decodeString(this.#bytes, { start, end });
      const isOwn = member === ACTIVE_MODEL && model === this.#model;
      if (!isOwn && !this.#allows(model, 'read')) this.#deny({ member, model, method: 'read' });
    }
  }

  #stopAtRecord(member: string, { by, names }: NamedRecord): void {
    if (!this.#allows(ANY_MODEL, 'read')) this.#stop({ names: member, by, isModel: names === 'model_id' });
  }

  /** Whether the same values name the model of the record. */
  #givesModel({ by }: NamedRecord): boolean {
    return this.#values.some(
      (value) =>
        value.kind === 'object' &&
        readMembers(this.#bytes, value, MEMBERS_MAX).some(
          (member) =>
            member.name === by && member.value.kind === 'string' && !isOmitted(this.#bytes, member.value),
        ),
    );
  }

  /** `default_x` is a value of the model of the call, and of all others that the method creates. */
  #findOwnerOfDefault(name: ByteRange): string | null {
    return this.#readName(name, isDefault)?.startsWith(DEFAULT) ? this.#model : null;
  }

  #isOneOf(at: number, one: number, other: number): boolean {
    const byte = this.#bytes[at];
    return byte === one || byte === other;
  }

  visit(field: FoundField, command: number | null): boolean {
    field.command = command;
    if (command === CLEAR && field.ignoresClear) return false;
    field.typed ??= field.owner === null ? 'lacking' : this.#findTyped(field, field.owner);
    const { typed, listed } = field;
    if (this.#isOver) return true;
    if (typed === 'missing' && this.#isUnknown(field, command)) return true;
    if (typed === 'none') return false;
    // The table was applied before the type was known.
    if (typeof typed === 'object') {
      return this.#judge(typed.name, typed, command === null ? ALL : typed.methods[command]!);
    }
    return listed !== null && this.#judgeListed(listed, command);
  }

  #judgeListed(listed: ListedMember, command: number | null): boolean {
    const { form, model } = listed.member;
    if (form === 'free') return this.#isOver;
    const methods = command === null ? ALL : METHODS_OF_COMMANDS[form][command]!;
    return this.#judge(listed.name, { relation: model, denied: listed.denied }, methods);
  }

  /** A default can be one of another model: the table applies to it, and links reach nothing else. */
  #isUnknown({ place, owner, named, listed }: FoundField, command: number | null): boolean {
    const isPassed =
      place === 'context' ? listed !== null || isLink(command) : place === 'perhaps' || command === CLEAR;
    if (isPassed) return false;
    return this.#stop({ unknown: this.#decode(named), of: place === 'context' ? null : owner });
  }

  #findTyped({ named, place }: FoundField, owner: string): Typed {
    const text = this.#decode(named);
    const name = place === 'context' ? text.slice(DEFAULT.length) : text;
    return this.#findTypedName(owner, name, text);
  }

  #findTypedName(owner: string, name: string, text: string): Typed {
    const ofOwner = this.#typed.get(owner) ?? new Map<string, Typed>();
    const known = ofOwner.get(text);
    if (known !== undefined) return known;
    const typed = this.#readType(owner, name, text);
    if (++this.#typedNames > MEMBERS_MAX) this.#stop(UNDETERMINED);
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
    return { name: text, relation, methods: METHODS_OF_COMMANDS[form], denied: this.#findDenied(relation) };
  }

  #decode(named: ByteRange | string): string {
    return typeof named === 'string' ? named : decodeName(this.#bytes, named);
  }

  /** The decoded name; null if it cannot be one that is looked for. */
  #readName(name: ByteRange, couldBe: (bytes: Uint8Array, name: ByteRange) => boolean): string | null {
    if (!hasEscape(this.#bytes, name))
      return couldBe(this.#bytes, name) ? decodeName(this.#bytes, name) : null;
    if (++this.#escapedNames > ESCAPED_NAMES_MAX) this.#stop(UNDETERMINED);
    return decodeString(this.#bytes, name);
  }

  /** Judges a field that is stored in another record at once, because any value changes it. */
  #findListed(name: string, model: string | null): ListedMember | null {
    const listed = this.#findMember(name, model);
    if (listed?.member.form !== 'values') return listed;
    // Among the values of its own model, the field leads nowhere else.
    if (listed.member.model !== model)
      this.#judge(listed.name, { relation: listed.member.model, denied: listed.denied }, WRITE);
    return null;
  }

  /** Judges what a field of the model changes elsewhere, whatever its value. */
  #judgeWritten(name: string, owner: string, { isNew, isOwn, isDefault = false }: WrittenRecord): void {
    const field = isDefault ? name.slice(DEFAULT.length) : name;
    for (const row of findWrittenModels(owner, field)) {
      const isEffective = !(isNew && row.isOfExisting) && !(isOwn && this.#isUnlinked(row));
      if (isEffective && !this.#allows(row.model, row.method))
        this.#deny({ member: name, model: row.model, method: row.method });
    }
  }

  /** Whether a new record of the call is not linked to the record that the field changes. */
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

  #findMember(name: string, model: string | null): ListedMember | null {
    const known = this.#members.get(name);
    if (known !== undefined && known.model === model) return known.listed;
    const member = findMember(name, model);
    const listed = member && this.#describe(member, name);
    if (this.#members.size === MEMBERS_MAX) this.#stop(UNDETERMINED);
    else this.#members.set(name, { model, listed });
    return listed;
  }

  #describe(member: SensitiveMember, name: string): ListedMember {
    return { member, name, denied: this.#findDenied(member.model) };
  }

  #findDenied(model: string): number {
    const known = this.#denied.get(model);
    if (known !== undefined) return known;
    const denied = METHODS.reduce(
      (bits, method, index) => (this.#allows(model, method) ? bits : bits | (1 << index)),
      0,
    );
    this.#denied.set(model, denied);
    return denied;
  }

  #judge(
    member: string,
    { relation, denied }: { relation: string; denied: number },
    methods: number,
  ): boolean {
    for (const [index, method] of METHODS.entries()) {
      if ((methods & denied & (1 << index)) !== 0) this.#deny({ member, model: relation, method });
    }
    return this.#isOver;
  }

  /** True if the search is over. */
  #deny(write: RelatedWrite): boolean {
    if (this.found === null) this.found = write;
    else if (![this.found, ...this.others].some((each) => isSameEntry(each, write))) this.others.push(write);
    if (this.others.length === OTHERS_MAX) this.#isOver = true;
    return this.#isOver;
  }

  #stop(found: Exclude<Found, RelatedWrite | null>): true {
    this.found ??= found;
    this.#isOver = true;
    return true;
  }

  /** `user_ids/login` creates and changes users; `user_ids/id` and `user_ids` link them. */
  #findInColumns(call: Arguments): void {
    let count = 0;
    for (const columns of findArgument(call, 0, 'fields')) {
      someString(call.bytes, columns, (start, end) => {
        const isTold = ++count <= COLUMNS_MAX && end - start <= COLUMN_LENGTH_MAX;
        if (isTold) this.#findInPath(decodeString(call.bytes, { start, end }));
        else this.#stop(UNDETERMINED);
        return this.#isOver;
      });
    }
  }

  #findInPath(path: string): void {
    const fields = path.split(/[/.:]/).filter((field) => field !== '');
    let owner: string | null = this.#model;
    for (const [index, name] of fields.entries()) {
      const below = fields[index + 1];
      const isLink = below === undefined || below === 'id';
      if (owner !== null) {
        this.#judgeWritten(name, owner, { isNew: false, isOwn: false });
        const named = findNamedRecord(owner, name);
        if (named !== null) this.#stopAtRecord(name, named);
      }
      if (this.#isOver) return;
      const listed = this.#findMember(name, owner);
      const typed: Typed = owner === null ? 'lacking' : this.#findTypedName(owner, name, name);
      if (typeof typed === 'object') {
        const [create = 0, write = 0, , , link = 0] = typed.methods;
        if (this.#judge(name, typed, isLink ? link : create | write)) return;
        owner = typed.relation;
        continue;
      }
      if (listed !== null && typed !== 'none') {
        const { form, model } = listed.member;
        const isJudged = form !== 'free' && !(isLink && form === 'reference');
        const methods = isLink || form === 'linked' ? WRITE : CREATE | WRITE;
        if (isJudged && this.#judge(name, { relation: model, denied: listed.denied }, methods)) return;
      }
      if (this.#isOver) return;
      owner = listed?.member.model ?? null;
    }
  }
}

/** The model of the values within a command; null: not known. Until types are, only the table tells. */
function findRelation({ typed, listed }: FoundField): string | null {
  if (typeof typed === 'object' && typed !== null) return typed.relation;
  return listed === null || listed.member.form === 'linked' ? null : listed.member.model;
}

function isLink(command: number | null): boolean {
  return command !== null && command >= UNLINK_COMMAND;
}

/** Whether a link alone changes rights. */
function isGrant(member: SensitiveMember | null, relation: string): boolean {
  return member?.form === 'relation' && member.model === relation;
}

/** Whether a member of this name can be in one of the tables. */
const couldMatter = makeNameFilter([...MEMBER_NAMES, ...NAMING_FIELDS, COMODEL]);

/** Whether the method fills in or returns defaults. Others of a dialog work on the records for which it was made. */
function takesDefaults(method: string): boolean {
  return VALUE_METHODS.has(method) || NEW_RECORD_METHODS.has(method) || method === 'load';
}

const DEFAULT_START = Buffer.from(`"${DEFAULT}`);

function isDefault(bytes: Uint8Array, { start }: ByteRange): boolean {
  return DEFAULT_START.every((byte, index) => bytes[start + index] === byte);
}

function isSameEntry(found: Exclude<Found, null>, { model, method }: RelatedWrite): boolean {
  return typeof found === 'object' && 'model' in found && found.model === model && found.method === method;
}

/** Null, false and an empty text. */
function isOmitted(bytes: Uint8Array, value: JsonSpan): boolean {
  const { kind, start, end } = value;
  if (kind === 'array') return isEmptyArray(bytes, value);
  return kind === 'null' || kind === 'false' || (kind === 'string' && end - start === EMPTY_TEXT);
}

function hasEscape(bytes: Uint8Array, { start, end }: ByteRange): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/** Stands for the model of a record that only the server knows. Only a policy that lets all be read allows it. */
const ANY_MODEL = '*';
const RES_MODEL = 'res_model';
/** The member of the context by which defaults of a model read records of another one. */
const ACTIVE_MODEL = 'active_model';
/** Number of bytes of `""`. */
const EMPTY_TEXT = 2;
/** Names of models are shorter. */
const MODEL_LENGTH_MAX = 200;
/** Maximum number of further changes that are named at once. */
const OTHERS_MAX = 4;

const METHODS: readonly RelatedMethod[] = ['create', 'write', 'unlink', 'read'];
const CREATE = 1;
const WRITE = 2;
const UNLINK = 4;
const READ = 8;
const ALL = CREATE | WRITE | UNLINK;

/**
 * In the order of COMMANDS. A record that is removed from a one2many field can be deleted. `links`: a many2many field
 * whose links change nothing in the other record.
 */
const METHODS_OF_COMMANDS: Record<SensitiveMember['form'] | 'links', readonly number[]> = {
  lines: [CREATE, WRITE, UNLINK, WRITE | UNLINK, WRITE, WRITE | UNLINK, WRITE | UNLINK],
  links: [CREATE, WRITE, UNLINK, READ, READ, READ, READ],
  relation: [CREATE, WRITE, UNLINK, WRITE, WRITE, WRITE, WRITE],
  reference: [CREATE, WRITE, UNLINK, 0, 0, 0, 0],
  linked: [WRITE, 0, WRITE, WRITE, WRITE, WRITE, WRITE],
  values: [],
  free: [],
};
const UNLINK_COMMAND = COMMANDS.indexOf('unlink');

/** Imports have far fewer columns. */
const COLUMNS_MAX = 10_000;
const COLUMN_LENGTH_MAX = 1000;
