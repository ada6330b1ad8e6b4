/**
 * Finds changes of sensitive models that a call makes through the values of another record. These are x2many commands
 * under a member that leads to such a model, paths of `load`, fields that are stored in the other record, and members
 * of the context. If it cannot be determined, the answer is yes. Knows no policy.
 */
import { isEmptyArray } from '../../json/empty-array.ts';
import { decodeName } from '../../json/name.ts';
import type { ByteRange, JsonSpan } from '../../json/span.ts';
import { decodeString } from '../../json/string.ts';
import { someString } from '../../json/strings.ts';
import { type Arguments, findArgument, POSITIONAL_MAX } from '../arguments.ts';
import { couldBeMember, findMember } from '../sensitive/member-names.ts';
import type { SensitiveMember } from '../sensitive/sensitive-members.ts';
import { listRelatedArguments } from './related-arguments.ts';
import { listContextWrites } from './related-context.ts';
import { type CommandVisitor, someCommand, someValueCommand } from './x2many-commands.ts';

export interface RelatedWrite {
  member: string;
  model: string;
  /** The method that a direct call would use. */
  method: WriteMethod;
}

export type WriteMethod = 'create' | 'write' | 'unlink';

/** The result if the call has too much to search. */
export const UNDETERMINED = 'undetermined';

type Allows = (model: string, method: WriteMethod) => boolean;
type Found = RelatedWrite | typeof UNDETERMINED | null;

/** The first change that is not allowed; null: none. Only for calls of methods that may write. */
export function findRelatedWrite(model: string, method: string, call: Arguments, allows: Allows): Found {
  if (call.positional.length === POSITIONAL_MAX) return UNDETERMINED;
  const search = new Search(call.bytes, model, allows);
  const skipped = listSkipped(method, call);
  for (const value of call.positional) {
    if (!skipped.includes(value) && search.findIn(value, model)) return search.found;
  }
  for (const { name, value } of call.named) {
    if (skipped.includes(value)) continue;
    const isContext = name === 'context';
    // Python converts a list of pairs into an object.
    if (isContext && value.kind === 'array' && !isEmptyArray(call.bytes, value)) return UNDETERMINED;
    if (isContext ? search.findInContext(value) : search.findInNamed(name, value)) return search.found;
    // A context applies to everything that the method creates.
    if (search.findIn(value, isContext ? null : model)) return search.found;
  }
  return method === 'load' ? findInColumns(call, model, allows) : null;
}

/** Arguments that name fields and contain no values. */
function listSkipped(method: string, call: Arguments): JsonSpan[] {
  return listRelatedArguments(method)
    .filter(({ form }) => form !== 'whole')
    .flatMap(({ name, position }) => findArgument(call, position, name));
}

const BACKSLASH = 0x5c;

/** Maximum number of names with escapes, because these have to be decoded. Names of fields have no escapes. */
const ESCAPED_NAMES_MAX = 1000;

/** Maximum number of different names that are in the table or look like it. Normal calls have few. */
const MEMBERS_MAX = 1000;

/** A member that was found in a call, with the name that was used. */
interface FoundMember {
  member: SensitiveMember;
  name: string;
  /** Bits of METHODS: methods that the policy does not allow. */
  denied: number;
}

class Search implements CommandVisitor<FoundMember> {
  found: Found = null;
  readonly #bytes: Uint8Array;
  readonly #model: string;
  readonly #allows: Allows;
  /** The model of the values at the first level; null: not known. */
  #valuesModel: string | null = null;
  #escapedNames = 0;
  /** The last look-up of each name. */
  readonly #members = new Map<string, { model: string | null; field: FoundMember | null }>();
  readonly #denied = new Map<string, number>();

  constructor(bytes: Uint8Array, model: string, allows: Allows) {
    this.#bytes = bytes;
    this.#model = model;
    this.#allows = allows;
  }

  findIn(value: JsonSpan, model: string | null): boolean {
    this.#valuesModel = model;
    return someCommand(this.#bytes, value, this) || this.found !== null;
  }

  /**
   * For an argument that can be the value of a field, as in `action_set_lost(**values)`. A link there may have another
   * meaning.
   */
  findInNamed(name: string, value: JsonSpan): boolean {
    const member = findMember(name, this.#model);
    if (member === null || member.form === 'values') return false;
    this.#valuesModel = null;
    const form = member.form === 'free' ? 'free' : 'reference';
    const field = this.#describe({ ...member, form }, name);
    return someValueCommand(this.#bytes, value, field, this) || this.found !== null;
  }

  findInContext(context: JsonSpan): boolean {
    const row = listContextWrites(this.#bytes, context).find(
      ({ model, method }) => !this.#allows(model, method),
    );
    if (row !== undefined) this.found = { member: row.name, model: row.model, method: row.method };
    return row !== undefined;
  }

  findField(name: ByteRange, depth: number, within: FoundMember | null): FoundMember | null {
    if (this.found !== null) return null;
    const text = this.#readName(name);
    if (text === null) return null;
    const model = within?.member.model ?? (depth === 1 ? this.#valuesModel : null);
    const field = this.#findMember(text, model);
    if (field?.member.form !== 'values') return field;
    // Among the values of its own model, the field leads nowhere else.
    if (field.member.model !== model) this.#judge(field, WRITE);
    return null;
  }

  visit(field: FoundMember, command: number | null): boolean {
    if (field.member.form === 'free') return this.found !== null;
    return this.#judge(field, command === null ? ALL : METHODS_OF_COMMANDS[field.member.form][command]!);
  }

  /** The decoded name; null if it cannot be in the table. */
  #readName(name: ByteRange): string | null {
    if (!hasEscape(this.#bytes, name)) {
      return couldBeMember(this.#bytes, name) ? decodeName(this.#bytes, name) : null;
    }
    if (++this.#escapedNames > ESCAPED_NAMES_MAX) this.found = UNDETERMINED;
    return decodeString(this.#bytes, name);
  }

  #findMember(name: string, model: string | null): FoundMember | null {
    const known = this.#members.get(name);
    if (known !== undefined && known.model === model) return known.field;
    const member = findMember(name, model);
    const field = member && this.#describe(member, name);
    if (this.#members.size === MEMBERS_MAX) this.found = UNDETERMINED;
    else this.#members.set(name, { model, field });
    return field;
  }

  #describe(member: SensitiveMember, name: string): FoundMember {
    const denied = this.#denied.get(member.model) ?? this.#findDenied(member.model);
    return { member, name, denied };
  }

  #findDenied(model: string): number {
    const denied = METHODS.reduce(
      (bits, method, index) => (this.#allows(model, method) ? bits : bits | (1 << index)),
      0,
    );
    this.#denied.set(model, denied);
    return denied;
  }

  #judge({ member, name, denied }: FoundMember, methods: number): boolean {
    const method = METHODS.find((_, index) => (methods & denied & (1 << index)) !== 0);
    if (method === undefined) return this.found !== null;
    this.found = { member: name, model: member.model, method };
    return true;
  }
}

function hasEscape(bytes: Uint8Array, { start, end }: ByteRange): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

const METHODS: readonly WriteMethod[] = ['create', 'write', 'unlink'];
const CREATE = 1;
const WRITE = 2;
const UNLINK = 4;
const ALL = CREATE | WRITE | UNLINK;

/** In the order of COMMANDS. A record that is removed from a one2many field can be deleted. */
const METHODS_OF_COMMANDS: Record<SensitiveMember['form'], readonly number[]> = {
  lines: [CREATE, WRITE, UNLINK, WRITE | UNLINK, WRITE, WRITE | UNLINK, WRITE | UNLINK],
  relation: [CREATE, WRITE, UNLINK, WRITE, WRITE, WRITE, WRITE],
  reference: [CREATE, WRITE, UNLINK, 0, 0, 0, 0],
  values: [],
  free: [],
};

/** Imports have far fewer columns. */
const COLUMNS_MAX = 10_000;
const COLUMN_LENGTH_MAX = 1000;

/** `user_ids/login` creates and changes users; `user_ids/id` and `user_ids` link them. */
function findInColumns(call: Arguments, model: string, allows: Allows): Found {
  let found: Found = null;
  let count = 0;
  findArgument(call, 0, 'fields').some((columns) =>
    someString(call.bytes, columns, (start, end) => {
      const isTold = ++count <= COLUMNS_MAX && end - start <= COLUMN_LENGTH_MAX;
      found = isTold ? findInPath(decodeString(call.bytes, { start, end }), model, allows) : UNDETERMINED;
      return found !== null;
    }),
  );
  return found;
}

function findInPath(path: string, model: string, allows: Allows): RelatedWrite | null {
  const fields = path.split(/[/.:]/).filter((field) => field !== '');
  let owner: string | null = model;
  for (const [index, member] of fields.entries()) {
    const row = findMember(member, owner);
    owner = row?.model ?? null;
    if (row === null || row.form === 'free') continue;
    const below = fields[index + 1];
    const isLink = below === undefined || below === 'id';
    if (isLink && row.form === 'reference') continue;
    const methods: readonly WriteMethod[] = isLink ? ['write'] : ['create', 'write'];
    const method = methods.find((each) => !allows(row.model, each));
    if (method !== undefined) return { member, model: row.model, method };
  }
  return null;
}
