/**
 * Finds changes of other models that a call makes through the values of its own record: x2many commands, paths of
 * `load`, fields that are stored in the other record, defaults and other members of the context. If the model of the
 * values is known, the types of its fields tell what a command changes. Otherwise, a table of names does. A change that
 * cannot be determined counts as one that is not allowed. Independent of policies.
 */
import {
  type ByteRange,
  decodeName,
  decodeString,
  isEmptyArray,
  type JsonSpan,
  readKind,
  readMembers,
  skipString,
  skipWhiteSpace,
  someMember,
} from '@erp-proxy/json';
import { type Arguments, findArgument, POSITIONAL_MAX } from '../arguments.ts';
import { listSetFields } from '../equivalent-methods.ts';
import { isWriteMethod } from '../methods.ts';
import { findMember, MEMBER_NAMES } from '../sensitive/member-names.ts';
import { DEFAULT, makeNameFilter } from '../sensitive/name-filter.ts';
import { SENSITIVE_ARGUMENTS, type SensitiveMember } from '../sensitive/sensitive-members.ts';
import { couldBeWritten, nameMethod } from '../sensitive/written-models.ts';
import type { LearntTypes } from '../values/field-types.ts';
import { ATTACHMENT_ARGUMENT, ATTACHMENTS, listAttachmentArguments } from './attachment-arguments.ts';
import { findInColumns } from './load-columns.ts';
import { COMODEL, FILE_FIELD, findNamedRecord, NAMING_FIELDS, type NamedRecord } from './named-records.ts';
import { listRelatedArguments } from './related-arguments.ts';
import { ACTIVE_MODEL, listContextNeeds, listContextWrites, MODEL_LENGTH_MAX } from './related-context.ts';
import {
  ALL,
  type Allows,
  ANY_MODEL,
  type Found,
  RelatedFindings,
  type RelatedWrite,
  UNDETERMINED,
} from './related-findings.ts';
import {
  isLink,
  type ListedMember,
  METHODS_OF_COMMANDS,
  type Typed,
  WrittenFields,
} from './written-fields.ts';
import { CLEAR, type CommandVisitor, NEW, someCommand, someValueCommand } from './x2many-commands.ts';

export interface RelatedWrites {
  /** The first change that is not allowed, or why this cannot be determined; null: no such change. */
  found: Found;
  /** Further changes that are not allowed, of other models or by other methods; not all, if there are many. */
  others: readonly RelatedWrite[];
  /** By model: fields whose types are needed too. As long as they are missing, only the table of names applies. */
  lacking: ReadonlyMap<string, ReadonlySet<string>>;
}

export const NO_RELATED_WRITES: RelatedWrites = { found: null, others: [], lacking: new Map() };

export const NOTHING_LEARNT: LearntTypes = { types: new Map(), asked: new Map() };

/** Finds the changes of a call whose method may write. */
export function findRelatedWrites(
  model: string,
  method: string,
  call: Arguments,
  allows: Allows,
  learnt: LearntTypes = NOTHING_LEARNT,
): RelatedWrites {
  const findings = new RelatedFindings(allows);
  const fields = new WrittenFields(call.bytes, findings, learnt);
  new Search({ model, method }, call.bytes, findings, fields).findInCall(call);
  return { found: findings.found, others: findings.others, lacking: fields.lacking };
}

/** Methods whose objects are values of their own model. Odoo refuses fields that the model does not have. */
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
/** Named arguments of unknown methods that are no fields. */
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

/** Maximum number of names with escapes, which take time to decode. Names of fields have no escapes. */
const ESCAPED_NAMES_MAX = 1000;

/**
 * `values`: in a record whose unknown fields Odoo refuses. `context`: in a context. `perhaps`: in what may be a record.
 */
type Place = 'values' | 'context' | 'perhaps';

interface FoundField {
  listed: ListedMember | null;
  /** The model that would have the field; null: not known, so that only the table applies. */
  owner: string | null;
  place: Place;
  /** The quoted name of the field in the call, or the name itself. */
  named: ByteRange | string;
  /** The type of the field; null until a command was seen. */
  typed: Typed | null;
  /**
   * True: a value that clears the field changes nothing, because the record of the field is new, or is decided on once
   * the types of the fields around it are known.
   */
  ignoresClear: boolean;
  /** The last command that was seen. */
  command: number | null;
}

class Search implements CommandVisitor<FoundField> {
  readonly #bytes: Uint8Array;
  readonly #model: string;
  readonly #method: string;
  readonly #findings: RelatedFindings;
  readonly #fields: WrittenFields;
  /** The model of the values at the first level; null: not known. */
  #valuesModel: string | null = null;
  #place: Place = 'perhaps';
  #escapedNames = 0;
  #arguments: readonly JsonSpan[] = [];
  /** Arguments that can have values of records. */
  #values: readonly JsonSpan[] = [];

  constructor(
    { model, method }: { model: string; method: string },
    bytes: Uint8Array,
    findings: RelatedFindings,
    fields: WrittenFields,
  ) {
    this.#bytes = bytes;
    this.#model = model;
    this.#method = method;
    this.#findings = findings;
    this.#fields = fields;
  }

  findInCall(call: Arguments): void {
    if (call.positional.length === POSITIONAL_MAX) {
      this.#findings.stop(UNDETERMINED);
      return;
    }
    const values = [...call.positional, ...call.named.map(({ value }) => value)];
    this.#arguments = values;
    this.#fields.setArguments(values);
    const skipped = listSkipped(this.#method, call);
    const contexts = call.named.filter(({ name }) => name === 'context').map(({ value }) => value);
    this.#values = values.filter((value) => !skipped.includes(value) && !contexts.includes(value));
    if (this.#findAttachments(call)) return;
    if (this.#method === 'copy') this.#fields.checkCopied(this.#model);
    for (const field of [nameMethod(this.#method), ...listSetFields(this.#method)])
      this.#fields.checkWritten(field, this.#model, { isNew: false, isOwn: false });
    const place: Place = VALUE_METHODS.has(this.#method) ? 'values' : 'perhaps';
    for (const [position, value] of call.positional.entries()) {
      if (this.#findInArgument(position, value)) return;
      if (!skipped.includes(value) && this.#findIn(value, this.#model, place)) return;
    }
    for (const { name, value } of call.named) {
      if (this.#findInArgument(name, value) || this.#findInActivity(name, value)) return;
      if (skipped.includes(value)) continue;
      if (name === 'context') {
        if (this.#findInContext(value)) return;
      } else if (this.#findInNamed(name, value) || this.#findIn(value, this.#model, place)) return;
    }
    if (this.#method === 'load') findInColumns(this.#model, call, this.#findings, this.#fields);
  }

  #findIn(value: JsonSpan, model: string | null, place: Place): boolean {
    this.#valuesModel = model;
    this.#place = place;
    return someCommand(this.#bytes, value, this) || this.#findings.isOver;
  }

  /**
   * Checks an argument that can be the value of a field, as in `action_set_lost(**values)`. A link there may have
   * another meaning.
   */
  #findInNamed(name: string, value: JsonSpan): boolean {
    const member = findMember(name, this.#model);
    if (this.#takesValuesByName()) {
      this.#fields.checkWritten(name, this.#model, { isNew: false, isOwn: false });
      if (member?.form === 'values') this.#fields.checkListed(name, this.#model);
    }
    if (this.#findings.isOver) return true;
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
    return someValueCommand(this.#bytes, value, field, this) || this.#findings.isOver;
  }

  #describeNamed(member: SensitiveMember, name: string): ListedMember {
    const form = member.form === 'free' || member.form === 'linked' ? member.form : 'reference';
    return this.#fields.describe({ ...member, form }, name);
  }

  /** The model that can have a named argument as a field with commands; null: the argument is no such field. */
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
      this.#findings.stop(UNDETERMINED);
      return true;
    }
    const called = { model: this.#model, method: this.#method };
    const row = listContextWrites(this.#bytes, context, called).find(
      ({ model, method }) => !this.#findings.allows(model, method),
    );
    if (row !== undefined && this.#findings.deny({ member: row.name, model: row.model, method: row.method }))
      return true;
    if (this.#findContextNeeds(context)) return true;
    // Defaults are read from the active records.
    if (takesDefaults(this.#method)) {
      someMember(this.#bytes, context, [ACTIVE_MODEL], (at) => {
        this.#findNamedModel(ACTIVE_MODEL, at);
        return this.#findings.isOver;
      });
      if (this.#findings.isOver) return true;
    }
    // A context applies to everything that the method creates, also of other models.
    return this.#findIn(context, null, 'context');
  }

  /** Checks the members of the context that name records on which the method acts, or have an effect of their own. */
  #findContextNeeds(context: JsonSpan): boolean {
    const found = listContextNeeds(this.#bytes, context, this.#model);
    if (found === UNDETERMINED) return this.#findings.stop(UNDETERMINED);
    for (const { member, model, method } of found) {
      if (model === null) this.#findings.stopAtRecord(member, { names: 'id', by: ACTIVE_MODEL });
      else if (!this.#findings.allows(model, method)) this.#findings.deny({ member, model, method });
    }
    return this.#findings.isOver;
  }

  /** Whether the argument itself, whatever its value, needs a method that is not allowed. */
  #findInArgument(place: string | number, value: JsonSpan): boolean {
    const row = SENSITIVE_ARGUMENTS.find(
      ({ names, position, methods }) =>
        (position === place || names.some((name) => name === place)) && this.#method.startsWith(methods),
    );
    if (row === undefined || isOmitted(this.#bytes, value) || this.#findings.allows(row.model, row.method))
      return false;
    return this.#findings.deny({
      member: row.names.find((name) => name === place) ?? row.names[0]!,
      model: row.model,
      method: row.method,
    });
  }

  /** Named arguments of `activity_schedule` are values of the new activity, which belongs to a record of the call. */
  #findInActivity(name: string, value: JsonSpan): boolean {
    if (!this.#method.startsWith(ACTIVITY_METHODS) || isOmitted(this.#bytes, value)) return false;
    this.#place = 'values';
    this.#findNamedRecord(name, { model: ACTIVITIES, isNew: true, hasValues: false }, value.start);
    return this.#findings.isOver;
  }

  #findAttachments(call: Arguments): boolean {
    const given = listAttachmentArguments(this.#method, call);
    if (given.every((value) => isOmitted(this.#bytes, value)) || this.#findings.allows(ATTACHMENTS, 'read'))
      return false;
    return this.#findings.deny({ member: ATTACHMENT_ARGUMENT, model: ATTACHMENTS, method: 'read' });
  }

  findField(name: ByteRange, depth: number, within: FoundField | null, value: number): FoundField | null {
    if (this.#findings.isOver) return null;
    // Outside all objects, the name is the first element of a pair.
    const isFirst = within === null && (depth === 1 || depth === 0);
    const model = within === null ? (isFirst ? this.#valuesModel : null) : findRelation(within);
    const isDefault = isFirst && this.#place === 'context';
    const isNew = isFirst ? isDefault || this.#method === 'create' : within?.command === NEW;
    const isOwn = isFirst && this.#place !== 'perhaps' && NEW_RECORD_METHODS.has(this.#method);
    const isEmpty = this.#isOneOf(value, OF_NULL, OF_FALSE);
    // A default applies to new records of the model, among others.
    const written = isDefault ? this.#model : model;
    const text = this.#readName(
      name,
      (bytes, at) => couldMatter(bytes, at) || (written !== null && couldBeWritten(written, bytes, at)),
    );
    if (text !== null && written !== null && (!isDefault || text.startsWith(DEFAULT)))
      this.#fields.checkWritten(text, written, { isNew, isOwn, isDefault, isEmpty });
    // Without a model, only rows of the table that apply to all models were looked up.
    if (isDefault && text !== null) this.#fields.checkListed(text, this.#model);
    const listed = text === null ? null : this.#fields.checkListed(text, model);
    if (this.#findings.isOver) return null;
    const isOpen = within !== null && within.owner !== null && within.typed === 'lacking';
    const owner = isDefault ? this.#findOwnerOfDefault(name) : isOpen ? null : model;
    const place = isFirst ? this.#place : typeof within?.typed === 'object' ? 'values' : 'perhaps';
    if (text !== null && !isEmpty)
      this.#findNamedRecord(text, { model, isNew, hasValues: isFirst && place === 'values' }, value);
    if (this.#findings.isOver) return null;
    // Names within lists of values are checked again once the types of the fields around them are known.
    const isOpenList = within === null && !isFirst && this.#place === 'values';
    const ignoresClear = isNew || isOpenList;
    if (isEmpty && ignoresClear) return null;
    const found = { listed, named: name, typed: null, ignoresClear, command: null };
    if (owner === null || !(isEmpty || this.#isOneOf(value, OPEN_ARRAY, OPEN_OBJECT)))
      return listed && { ...found, owner: null, place: 'perhaps' };
    return { ...found, owner, place };
  }

  /** Checks a field that names a record of any model. */
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
    // A context applies to files that the method stores, too.
    if (field === FILE_FIELD.name && (isOfContext || owner === FILE_FIELD.model)) this.#findFileField(text);
    const named = owner === null ? null : findNamedRecord(owner, field);
    if (named?.names === 'model' || (isOfContext && field === RES_MODEL)) this.#findNamedModel(text, value);
    else if (named?.names === 'model_id') this.#findings.stopAtRecord(text, named);
    else if (named?.names === 'id' && !isNew && !(hasValues && this.#givesModel(named)))
      this.#findings.stopAtRecord(text, named);
  }

  /** Checks a file that becomes the value of a field of another record. */
  #findFileField(member: string): void {
    let isNamed = false;
    const { by } = FILE_FIELD;
    const find = (at: number) => {
      if (readKind(this.#bytes, at) !== 'string') return false;
      const end = skipString(this.#bytes, at);
      if (end - at === EMPTY_TEXT || end - at > MODEL_LENGTH_MAX) return false;
      isNamed = true;
      const model = decodeString(this.#bytes, { start: at, end });
      return (
        !this.#findings.allows(model, 'write') && this.#findings.deny({ member, model, method: 'write' })
      );
    };
    for (const value of this.#arguments)
      if (someMember(this.#bytes, value, [by, `${DEFAULT}${by}`], find)) return;
    if (!isNamed && !this.#findings.allows(ANY_MODEL, 'write'))
      this.#findings.stop({ names: member, by, isModel: false });
  }

  /** Checks a link to records of a model that the call names by a text. */
  #findNamedModel(member: string, start: number): void {
    if (readKind(this.#bytes, start) !== 'string') return;
    const end = skipString(this.#bytes, start);
    if (end - start === EMPTY_TEXT) return;
    if (end - start > MODEL_LENGTH_MAX) this.#findings.stop(UNDETERMINED);
    else {
      const model = decodeString(this.#bytes, { start, end });
      const isOwn = member === ACTIVE_MODEL && model === this.#model;
      if (!isOwn && !this.#findings.allows(model, 'read'))
        this.#findings.deny({ member, model, method: 'read' });
    }
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

  /**
   * The model of the call if the name begins with `default_`: the member is a value of that model, and of all other
   * models that the method creates.
   */
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
    if (this.#findings.isOver) return true;
    if (typed === 'missing' && this.#isUnknown(field, command)) return true;
    if (typed === 'none') return false;
    // The table was applied before the type was known.
    if (typeof typed === 'object') {
      return this.#findings.check(typed.name, typed, command === null ? ALL : typed.methods[command]!);
    }
    return listed !== null && this.#checkListed(listed, command);
  }

  #checkListed(listed: ListedMember, command: number | null): boolean {
    const { form, model } = listed.member;
    if (form === 'free') return this.#findings.isOver;
    const methods = command === null ? ALL : METHODS_OF_COMMANDS[form][command]!;
    return this.#findings.check(listed.name, { relation: model, denied: listed.denied }, methods);
  }

  /**
   * Whether a field without a type may change something unknown. A default that is no field of the model applies to
   * records of other models that the method creates. There, a link can take a record away from another one.
   */
  #isUnknown({ place, owner, named, listed }: FoundField, command: number | null): boolean {
    const isPassed =
      place === 'context'
        ? listed !== null || (isLink(command) && this.#findings.allows(ANY_MODEL, 'write'))
        : place === 'perhaps' || command === CLEAR;
    if (isPassed) return false;
    return this.#findings.stop({ unknown: this.#decode(named), of: place === 'context' ? null : owner });
  }

  #findTyped({ named, place }: FoundField, owner: string): Typed {
    const text = this.#decode(named);
    const name = place === 'context' ? text.slice(DEFAULT.length) : text;
    return this.#fields.findTyped(owner, name, text);
  }

  #decode(named: ByteRange | string): string {
    return typeof named === 'string' ? named : decodeName(this.#bytes, named);
  }

  /** The decoded name; null if it cannot be one of the names that are searched for. */
  #readName(name: ByteRange, couldBe: (bytes: Uint8Array, name: ByteRange) => boolean): string | null {
    if (!hasEscape(this.#bytes, name))
      return couldBe(this.#bytes, name) ? decodeName(this.#bytes, name) : null;
    if (++this.#escapedNames > ESCAPED_NAMES_MAX) this.#findings.stop(UNDETERMINED);
    return decodeString(this.#bytes, name);
  }
}

/**
 * The model of the values within a command; null if it is not known. As long as the type of the field is not known,
 * only the table of names can tell the model.
 */
function findRelation({ typed, listed }: FoundField): string | null {
  if (typeof typed === 'object' && typed !== null) return typed.relation;
  return listed === null || listed.member.form === 'linked' ? null : listed.member.model;
}

/** Whether a member of this name can be in one of the tables. */
const couldMatter = makeNameFilter([...MEMBER_NAMES, ...NAMING_FIELDS, COMODEL]);

/**
 * Whether the method fills in or returns defaults. Other methods of a dialog work on the records for which it was made.
 */
function takesDefaults(method: string): boolean {
  return VALUE_METHODS.has(method) || NEW_RECORD_METHODS.has(method) || method === 'load';
}

const DEFAULT_START = Buffer.from(`"${DEFAULT}`);

function isDefault(bytes: Uint8Array, { start }: ByteRange): boolean {
  return DEFAULT_START.every((byte, index) => bytes[start + index] === byte);
}

/** Null, false, and an empty text or list. */
function isOmitted(bytes: Uint8Array, value: JsonSpan): boolean {
  const { kind, start, end } = value;
  if (kind === 'array') return isEmptyArray(bytes, value);
  return kind === 'null' || kind === 'false' || (kind === 'string' && end - start === EMPTY_TEXT);
}

function hasEscape(bytes: Uint8Array, { start, end }: ByteRange): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

const RES_MODEL = 'res_model';
/** Number of bytes of `""`. */
const EMPTY_TEXT = 2;
/** Members that are read to find the name of a model. Normal values have fewer. */
const MEMBERS_MAX = 1000;
