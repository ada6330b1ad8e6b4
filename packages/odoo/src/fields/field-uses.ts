/**
 * Lists the fields that a call names, as paths from its model. field-methods.ts has the forms of the arguments. What
 * cannot be read counts as unreadable, never as nothing. Independent of policies and of types of fields.
 */
import {
  decodeString,
  type JsonMember,
  type JsonSpan,
  readElements,
  readMembers,
  skipWhiteSpace,
} from '@erp-proxy/json';
import { type Arguments, findArgument, isLeftOut } from '../arguments.ts';
import {
  CONTEXT_DOMAINS,
  CONTEXT_FIELDS,
  CONTEXT_GROUPS,
  CONTEXT_PREFIXES,
  type ContextFields,
} from './field-context.ts';
import {
  type FieldArgument,
  type FieldForm,
  type FieldMethod,
  findFieldMethod,
  type RecordOrder,
} from './field-methods.ts';
import { NAME_SEARCH, PARENTS } from './field-sources.ts';
import {
  type Path,
  parseAggregate,
  parseColumn,
  parseGroup,
  parseOrder,
  parsePath,
  parseResultName,
} from './field-texts.ts';

/**
 * What a call uses of the records that a field leads to, if it leads to any. `shown`: their names, if it leads to one
 * record. `named`: their names. `searched`: the fields that a search by name compares. `parents`: their parents.
 * `all`: the names of all records of their model. `sorted`: the order of their model. `grouped`: their names and the
 * order of their model.
 */
export type Tail = 'shown' | 'named' | 'all' | 'searched' | 'parents' | 'sorted' | 'grouped' | null;

export interface FieldUse {
  /** Names of fields. Each but the first one is a field of the records that the one before leads to. */
  path: Path;
  tail: Tail;
  /** The model of the first field, if it is not that of the call; null: any model. */
  model?: string | null;
  /** Only rules with `deny` apply to the use: fields that `allow` leaves out are not denied. */
  onlyDeny?: true;
  /** The last field leads to several records, which are returned in the order of their model. */
  isListed?: true;
  /** The records that the last field leads to are returned in an order that the call gives. */
  isOrdered?: true;
  /** The field is written, not read. */
  isWritten?: true;
  /** The part of the query that names the field; absent: it is only read or written. */
  clause?: FieldClause;
}

export interface FieldClause {
  kind: 'domain' | 'order' | 'groupby';
  /** The number of names at the beginning of the path that lead to the model of the clause. */
  base: number;
}

/** The fields of a call that names none, so that Odoo takes all. `tail`: what the method uses of each field. */
export type UnnamedFields =
  | ListableFields
  | { canList: false; name: string | null; tail: Tail; isListed?: true };

/** The call can list the fields in the argument `name`, which has this position among the positional arguments. */
export interface ListableFields extends ArgumentPlace {
  canList: true;
  tail: Tail;
  isListed?: true;
}

/** An argument, by its name and its position among the positional ones. */
export interface ArgumentPlace {
  name: string;
  position: number;
}

/** Records that a call finds come in the order of their model, because the call gives no order. */
export interface UnorderedRecords {
  /** The argument that gives an order; null: the method has none. */
  argument: ArgumentPlace | null;
}

export interface FieldUses {
  /** False: the method is not known, so it can also name and return any field that is not in `uses`. */
  isKnown: boolean;
  uses: readonly FieldUse[];
  unnamed: UnnamedFields | null;
  unordered: UnorderedRecords | null;
  /** The argument that cannot be read; null: there is none. */
  unreadable: string | null;
  /** An argument that the method is not known to have; null: there is none. */
  unknown: string | null;
}

/** `read` leaves out the fields that are written, which can be many. */
export type FieldScope = 'all' | 'read';

/** Whether an argument of the method can name fields that it reads. */
export function namesReadFields(model: string, method: string): boolean {
  const row = findFieldMethod(model, method);
  return row?.arguments.some(({ form }) => form !== 'free' && form !== 'values') === true;
}

/** Whether an argument of the method can name fields by which it searches, sorts or groups. */
export function takesQuery(model: string, method: string): boolean {
  return findFieldMethod(model, method)?.arguments.some(({ form }) => QUERY_FORMS.has(form)) === true;
}

export function listFieldUses(
  model: string,
  method: string,
  call: Arguments,
  scope: FieldScope = 'all',
): FieldUses {
  const reader = new UseReader(call, scope);
  const row = findFieldMethod(model, method);
  if (row !== undefined) reader.readArguments(row);
  for (const { name, value } of call.named) if (name === 'context') reader.readContext(value);
  return { ...reader.found, isKnown: row !== undefined };
}

/** Maximum number of names and elements that are read. The values of a thousand records have some 10,000. */
const VISITS_MAX = 20_000;
/** Maximum number of different uses. */
const USES_MAX = 2000;
/** Maximum number of names in a path. Odoo joins a table for each. */
const PATH_NAMES_MAX = 32;
/** Maximum number of names in all different uses. Each is checked again whenever the types of a model become known. */
const NAMES_MAX = 10_000;
/** Maximum number of characters in the names of all uses, also of equal ones, which are compared as texts. */
const CHARACTERS_MAX = 2_000_000;
/** Names of columns have at most 63 characters in PostgreSQL. */
const NAME_LENGTH_MAX = 100;
const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const DISPLAY_NAME = 'display_name';
const ID = 'id';
const GROUP_EXPAND = 'read_group_expand';
const CLASSIC = '_classic_read';
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const OPERATORS: ReadonlySet<string> = new Set(['&', '|', '!']);
const SUBDOMAIN = /^(not )?any!?$/;
const HIERARCHY = /^(child|parent)_of$/;
const PATTERN = /like$/;
/** Operators with which a search for an empty name finds all records. */
const MATCHES_ALL = /^i?like$/;

const QUERY_FORMS: ReadonlySet<FieldForm> = new Set([
  'domain',
  'order',
  'groups',
  'specification',
  'page_specification',
  'group_specifications',
  'panel_domain',
  'group_domains',
]);

/** Arguments that have the same form in every method that has them. */
const USUAL_FORMS: ReadonlyMap<string, FieldForm> = new Map([
  ['fields', 'names'],
  ['domain', 'domain'],
  ['order', 'order'],
  ['limit', 'free'],
  ['offset', 'free'],
]);

/** The uses of a call that names no fields and returns none. */
export const NO_FIELD_USES: FieldUses = {
  isKnown: true,
  uses: [],
  unnamed: null,
  unordered: null,
  unreadable: null,
  unknown: null,
};

const LISTED = { isListed: true } as const;
const ORDERED = { isOrdered: true } as const;
const WRITTEN = { isWritten: true } as const;
/** Arguments of the form `groups` that name groups; other arguments of this form name aggregates. */
const GROUPINGS: ReadonlySet<string> = new Set(['groupby', 'grouping_sets', 'group_by']);
const GROUPED = { clause: { kind: 'groupby', base: 0 } } as const;

/** Thrown to end the reading of an argument. */
class Unreadable extends Error {}

class UseReader {
  readonly found: Omit<FieldUses, 'isKnown'> & { uses: FieldUse[] } = {
    uses: [],
    unnamed: null,
    unordered: null,
    unreadable: null,
    unknown: null,
  };
  readonly #call: Arguments;
  readonly #bytes: Uint8Array;
  readonly #scope: FieldScope;
  readonly #seen = new Set<string>();
  #visits = 0;
  #names = 0;
  #characters = 0;
  /** The name of the argument that is read. */
  #argument = '';
  #panelField: Path = [];
  #showsNames = true;
  /** What a grouping uses of the records that a field leads to. */
  #grouping: 'grouped' | 'named' = 'grouped';

  constructor(call: Arguments, scope: FieldScope) {
    this.#call = call;
    this.#scope = scope;
    this.#bytes = call.bytes;
  }

  readArguments(method: FieldMethod): void {
    const { arguments: list, always, defaults, context, isOpen, returnsAll, records } = method;
    if (returnsAll) this.found.unnamed = { canList: false, name: null, tail: null, isListed: true };
    this.#showsNames = this.#givesNames(list);
    if (this.#sortsGroups(list)) this.#grouping = 'named';
    if (records !== null) this.#findUnordered(records, list);
    for (const name of always) this.#add([name], 'shown');
    for (const row of CONTEXT_FIELDS) if (context.includes(row.member)) this.#addContextRow(row);
    for (const argument of list) this.#readArgument(argument, defaults);
    if (!isOpen) this.#readOthers(list);
  }

  readContext(context: JsonSpan): void {
    this.#guard('context', () => this.#context(context));
  }

  #findValues({ names, position }: FieldArgument): JsonSpan[] {
    return names.flatMap((name, index) => findArgument(this.#call, index === 0 ? position : null, name));
  }

  #isGiven(argument: FieldArgument): boolean {
    return this.#findValues(argument).some((value) => !this.#isEmpty(value));
  }

  /**
   * Whether only the order of the call decides the order of the groups. If Odoo adds groups without records, all groups
   * come in the order of their records. Odoo adds such groups in lazy groupings, and by the context from 17 on.
   */
  #sortsGroups(list: readonly FieldArgument[]): boolean {
    const lazy = list.find(({ names }) => names.includes('lazy'));
    const isEager = lazy === undefined || (this.#findValues(lazy).length > 0 && !this.#isGiven(lazy));
    const isGiven = list.some((argument) => argument.form === 'group_order' && this.#isGiven(argument));
    return isEager && isGiven && !this.#expandsGroups();
  }

  #expandsGroups(): boolean {
    return this.#call.named.some(
      ({ name, value }) =>
        name === 'context' &&
        value.kind === 'object' &&
        readMembers(this.#bytes, value, VISITS_MAX + 1).some(
          (member) => member.name === GROUP_EXPAND && !this.#isEmpty(member.value),
        ),
    );
  }

  #findUnordered({ argument, onlyWith }: RecordOrder, list: readonly FieldArgument[]): void {
    const find = (name: string) => list.find(({ names }) => names.includes(name));
    const isGiven = (name: string) => {
      const found = find(name);
      return found !== undefined && this.#isGiven(found);
    };
    if (onlyWith !== null && !onlyWith.some(isGiven)) return;
    if (argument !== null && isGiven(argument)) return;
    const position = argument === null ? null : (find(argument)?.position ?? null);
    const place = argument === null || position === null ? null : { name: argument, position };
    this.found.unordered = { argument: place };
  }

  #readArgument(argument: FieldArgument, defaults: Readonly<Record<string, string>>): void {
    const { names, position, form } = argument;
    const values = this.#findValues(argument);
    const [name = ''] = names;
    const shown = form === 'shown' && this.#showsNames ? 'shown' : null;
    if (values.every((value) => this.#isEmpty(value))) {
      this.#findUnnamed(form, { name, position: position ?? 0, tail: shown }, values.length > 0);
      const standard = defaults[name];
      this.#guard(name, () => {
        if (standard !== undefined) this.#add([standard], null);
        if (form === 'panel_parents' && values.length === 0) this.#add(this.#panelField, 'parents');
      });
      return;
    }
    this.#guard(name, () => {
      for (const value of values) this.#read(form, value, shown);
    });
  }

  #findUnnamed(
    form: FieldForm,
    { name, position, tail }: Omit<ListableFields, 'canList'>,
    isGiven: boolean,
  ): void {
    if (form === 'shown') this.found.unnamed = { canList: true, name, position, tail, isListed: true };
    if (form === 'described') this.found.unnamed = { canList: true, name, position, tail };
    if (form === 'page_specification')
      this.found.unnamed = { canList: false, name, tail: 'shown', isListed: true };
    if (form.startsWith('aggregates') && isGiven)
      this.found.unnamed = { canList: false, name, tail: 'shown' };
  }

  /** Reads the arguments that the row of the method does not list. */
  #readOthers(list: readonly FieldArgument[]): void {
    const known = new Set(list.flatMap(({ names }) => names));
    const placed = list.filter(({ position }) => position !== null).length;
    if (this.#call.positional.length > placed) this.found.unknown = `params[${placed}]`;
    for (const { name, value } of this.#call.named) {
      if (known.has(name) || name === 'context' || this.#isEmpty(value)) continue;
      const form = USUAL_FORMS.get(name);
      if (form === undefined) this.found.unknown = name;
      else this.#guard(name, () => this.#read(form, value, null));
    }
  }

  /** `read` and `search_read` give the names of related records unless `load` has another value. */
  #givesNames(list: readonly FieldArgument[]): boolean {
    const load = list.find(({ names }) => names.includes('load'));
    const values = findArgument(this.#call, load?.position ?? null, 'load');
    const isOther = (value: JsonSpan) =>
      isLeftOut(value) || (value.kind === 'string' && this.#text(value) !== CLASSIC);
    return values.length === 0 || !values.every(isOther);
  }

  #guard(name: string, read: () => void): void {
    this.#argument = name;
    try {
      read();
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.found.unreadable ??= name;
    }
  }

  #read(form: FieldForm, value: JsonSpan, shown: Tail): void {
    switch (form) {
      case 'free':
        break;
      case 'panel_parents':
        this.#add(this.#panelField, 'parents');
        break;
      case 'panel_all':
        this.#add(this.#panelField, 'all');
        break;
      case 'names':
      case 'described':
        this.#texts(value, parsePath, [], null);
        break;
      case 'listed':
        this.#listedTexts(value, parsePath, null);
        break;
      case 'shown':
        this.#listedTexts(value, parsePath, shown);
        break;
      case 'domain':
        this.#domain(value, parsePath, []);
        break;
      case 'having':
        // The conditions are about aggregates.
        this.#domain(value, parseGroup, [], {});
        break;
      case 'order':
        this.#order(value, []);
        break;
      case 'group_order':
        this.#order(value, [], 'groups');
        break;
      case 'aggregates':
        this.#texts(value, parseAggregate, [], 'named');
        break;
      case 'groups':
        this.#texts(value, parseGroup, [], this.#grouping, GROUPINGS.has(this.#argument) ? GROUPED : {});
        break;
      case 'aggregates_or_groups':
        this.#texts(value, parseAggregate, [], this.#grouping);
        this.#texts(value, parseResultName, [], this.#grouping);
        break;
      case 'specification':
        this.#specification(value, []);
        break;
      case 'page_specification':
        if (value.kind === 'array') this.#listedTexts(value, parsePath, 'shown');
        else this.#specification(value, [], 'shown');
        break;
      case 'group_specifications':
        this.#members(value, (name, below) => this.#specification(below, this.#parse(name, parseGroup)));
        break;
      case 'values':
        if (this.#scope === 'all') this.#values(value);
        break;
      case 'columns':
        this.#listedTexts(value, parseColumn, 'named');
        break;
      case 'loaded_columns':
        this.#texts(value, parseColumn, [], 'searched', WRITTEN);
        break;
      case 'changes':
        this.#changes(value);
        break;
      case 'name_text':
        this.#add([NAME_SEARCH], null);
        break;
      case 'name_operator':
        this.#nameOperator(this.#text(value));
        break;
      case 'progress_bar':
        this.#members(value, (name, below) => {
          if (name === 'field' || name === 'sum_field') this.#texts(below, parsePath, [], null);
        });
        break;
      case 'panel_field':
        this.#panelField = this.#parse(this.#text(value), parsePath);
        this.#add(this.#panelField, 'grouped');
        break;
      case 'panel_domain':
        this.#domain(value, parsePath, this.#panelField);
        break;
      case 'panel_group':
        this.#add([...this.#panelField, ...this.#parse(this.#text(value), parsePath)], 'named', LISTED);
        break;
      case 'group_domains':
        if (value.kind === 'array') this.#domain(value, parsePath, []);
        else this.#members(value, (_, domain) => this.#domain(domain, parsePath, []));
        break;
      case 'unreadable':
        throw new Unreadable();
    }
  }

  /** One text, or a list of texts of any depth. Versions differ in what they make of an object. */
  #texts(
    value: JsonSpan,
    parse: (text: string) => Path | null,
    prefix: Path,
    tail: Tail,
    more: Pick<FieldUse, 'isWritten' | 'clause'> = {},
  ): void {
    if (this.#isEmpty(value)) return;
    if (value.kind === 'array')
      this.#elements(value, (element) => this.#texts(element, parse, prefix, tail, more));
    else this.#add([...prefix, ...this.#parse(this.#text(value), parse)], tail, more);
  }

  /** Reads texts like `#texts`, for fields whose values are returned, so that each field of a path lists records. */
  #listedTexts(value: JsonSpan, parse: (text: string) => Path | null, tail: Tail): void {
    if (this.#isEmpty(value)) return;
    if (value.kind === 'array') {
      this.#elements(value, (element) => this.#listedTexts(element, parse, tail));
      return;
    }
    const path = this.#parse(this.#text(value), parse);
    this.#addListsOf(path);
    this.#add(path, tail, LISTED);
  }

  /** The fields of a path before the last one. */
  #addListsOf(path: Path): void {
    if (path.length > PATH_NAMES_MAX) throw new Unreadable();
    for (let length = 1; length < path.length; length++) this.#add(path.slice(0, length), null, LISTED);
  }

  #order(value: JsonSpan, prefix: Path, kind: 'records' | 'groups' = 'records'): void {
    if (this.#isEmpty(value)) return;
    const paths = parseOrder(this.#text(value));
    if (paths === null) throw new Unreadable();
    const clause = { kind: 'order', base: prefix.length } as const;
    // A group can be ordered by an aggregate, which is not a field.
    const more = kind === 'records' ? { clause } : {};
    for (const path of paths) this.#add([...prefix, ...path], 'sorted', more);
  }

  /** `more`: added to the use of each field in the conditions. */
  #domain(
    value: JsonSpan,
    parse: (text: string) => Path | null,
    prefix: Path,
    more: Pick<FieldUse, 'clause' | 'model'> = { clause: { kind: 'domain', base: prefix.length } },
  ): void {
    if (this.#isEmpty(value)) return;
    if (value.kind !== 'array') throw new Unreadable();
    this.#elements(value, (item) => {
      if (item.kind === 'array') this.#condition(item, parse, prefix, more);
      else if (item.kind !== 'string' || !OPERATORS.has(this.#text(item))) throw new Unreadable();
    });
  }

  #condition(
    item: JsonSpan,
    parse: (text: string) => Path | null,
    prefix: Path,
    more: Pick<FieldUse, 'clause' | 'model'>,
  ): void {
    const parts: JsonSpan[] = [];
    this.#elements(item, (part) => void parts.push(part));
    const [left, operatorValue, value] = parts;
    if (left === undefined || operatorValue === undefined || value === undefined || parts.length > 3)
      throw new Unreadable();
    // Odoo's own conditions for true and false: (1, '=', 1) and (0, '=', 1).
    if (left.kind === 'number') return;
    const path = [...prefix, ...this.#parse(this.#text(left), parse)];
    const operator = this.#text(operatorValue).toLowerCase();
    if (SUBDOMAIN.test(operator)) {
      this.#add(path, null, more);
      // From 19 on, `id` leads to the record itself.
      this.#domain(value, parsePath, path.at(-1) === ID ? path.slice(0, -1) : path, more);
      return;
    }
    const start = more.model === undefined ? {} : { model: more.model };
    if (path.at(-1) === DISPLAY_NAME) this.#add([...path.slice(0, -1), NAME_SEARCH], null, start);
    if (HIERARCHY.test(operator)) this.#hierarchy(path, value, start);
    // A text is compared with the names of the records that the field leads to. From 19 on, `like` makes a text of
    // any other value.
    const isText = this.#hasString(value) || (PATTERN.test(operator) && !this.#isEmpty(value));
    this.#add(path, isText ? 'searched' : null, more);
  }

  /** Odoo passes the operator on to the fields that the name is compared with, which can lead to other models. */
  #nameOperator(operator: string): void {
    const lower = operator.toLowerCase();
    if (SUBDOMAIN.test(lower) || HIERARCHY.test(lower)) throw new Unreadable();
    if (!MATCHES_ALL.test(operator)) this.#add([NAME_SEARCH], null);
  }

  /** A text in place of an id is searched for by name, in the model of the ids. */
  #hierarchy(path: Path, value: JsonSpan, start: Pick<FieldUse, 'model'>): void {
    if (path.at(-1) === ID) {
      const owner = path.slice(0, -1);
      this.#add([...owner, PARENTS], null, start);
      if (this.#hasString(value)) this.#add([...owner, NAME_SEARCH], null, start);
    }
    this.#add(path, 'parents', start);
  }

  /**
   * `tail`: what is used of each field; in 14 to 16, an object in place of a list of names shows names of records.
   * `takesOrder` false: Odoo ignores orders in the specification.
   */
  #specification(value: JsonSpan, prefix: Path, tail: Tail = null, takesOrder = true): void {
    if (this.#isEmpty(value)) return;
    this.#members(value, (name, below) => {
      const path = [...prefix, ...this.#parse(name, parsePath)];
      this.#add(path, tail, takesOrder && this.#hasOrder(below) ? ORDERED : LISTED);
      this.#below(below, path, takesOrder);
    });
  }

  /** Whether a specification gives the order of the records that its field leads to, also if it does so twice. */
  #hasOrder(value: JsonSpan): boolean {
    const orders: JsonSpan[] = [];
    if (value.kind === 'object')
      this.#members(value, (name, inner) => {
        if (name === 'order') orders.push(inner);
      });
    return orders.length > 0 && !orders.some((order) => this.#isEmpty(order));
  }

  /** What a specification reads of the records that a field leads to. */
  #below(value: JsonSpan, path: Path, takesOrder: boolean): void {
    if (this.#isEmpty(value)) return;
    if (value.kind !== 'object' && value.kind !== 'array') return;
    this.#members(value, (name, inner) => {
      if (name === 'fields') this.#specification(inner, path, null, takesOrder);
      else if (name === 'order') this.#order(inner, path);
      else if (name === 'context') this.#context(inner);
    });
  }

  /** One record, or a list of records. */
  #values(value: JsonSpan): void {
    if (value.kind === 'object') {
      this.#record(value, []);
      return;
    }
    if (value.kind !== 'array') throw new Unreadable();
    this.#elements(value, (record) => {
      if (record.kind !== 'object') throw new Unreadable();
      this.#record(record, []);
    });
  }

  #record(object: JsonSpan, prefix: Path): void {
    this.#members(object, (name, value) => {
      const path = [...prefix, name];
      this.#add(path, null, WRITTEN);
      this.#commands(value, path);
    });
  }

  /** The values of related records are objects, or lists of pairs, which Python converts into objects. */
  #commands(value: JsonSpan, path: Path): void {
    if (value.kind === 'object') this.#record(value, path);
    if (value.kind !== 'array') return;
    // Skips a list without texts and objects: a list of ids, which can be long.
    if (!this.#hasString(value) && !this.#bytes.subarray(value.start, value.end).includes(OPEN_OBJECT))
      return;
    let first: JsonSpan | null = null;
    let count = 0;
    this.#elements(value, (element) => {
      if (count === 0) first = element;
      count++;
      this.#commands(element, path);
    });
    const name = first as JsonSpan | null;
    if (count === 2 && name?.kind === 'string' && NAME.test(this.#text(name)))
      this.#add([...path, this.#text(name)], null, WRITTEN);
  }

  #changes(value: JsonSpan): void {
    if (value.kind !== 'object') {
      this.#listedTexts(value, parsePath, 'shown');
      return;
    }
    this.#members(value, (name, below) => {
      const path = this.#parse(name, parsePath);
      this.#addListsOf(path);
      this.#add(path, 'shown', LISTED);
      this.#below(below, path, false);
    });
  }

  #context(context: JsonSpan): void {
    if (this.#isEmpty(context)) return;
    this.#members(context, (member, value) => {
      if (CONTEXT_GROUPS.has(member)) this.#texts(value, parseGroup, [], 'named');
      const searched = CONTEXT_DOMAINS.get(member);
      if (searched !== undefined) this.#domain(value, parsePath, [], { model: searched });
      for (const row of CONTEXT_FIELDS) {
        const isUsed = row.value === false ? isLeftOut(value) : !this.#isEmpty(value);
        if (row.member === member && isUsed) this.#addContextRow(row);
      }
      for (const { prefix, any } of CONTEXT_PREFIXES) {
        if (!member.startsWith(prefix)) continue;
        const field = member.slice(prefix.length);
        if (any) this.#addContextField(field, null);
        else this.#add([field], null);
      }
    });
  }

  #addContextRow({ fields, model, onlyDeny }: ContextFields): void {
    for (const field of fields) this.#addContextField(field, model, onlyDeny);
  }

  /** `model` null: any model, that of the call in particular. */
  #addContextField(field: string, model: string | null, onlyDeny?: true): void {
    if (model === null) this.#add([field], null);
    this.#add([field], null, onlyDeny ? { model, onlyDeny } : { model });
  }

  #add(path: Path, tail: Tail, more: Omit<FieldUse, 'path' | 'tail'> = {}): void {
    this.#visit();
    if (path.length > PATH_NAMES_MAX || path.some(({ length }) => length > NAME_LENGTH_MAX))
      throw new Unreadable();
    const { model, isListed, isOrdered, isWritten, clause } = more;
    const asked = clause === undefined ? '' : `${clause.kind} ${clause.base}`;
    const key = `${path.join('.')} ${tail} ${model} ${isListed} ${isOrdered} ${isWritten} ${asked}`;
    this.#characters += key.length;
    if (this.#characters > CHARACTERS_MAX) throw new Unreadable();
    if (path.length === 0 || this.#seen.has(key)) return;
    if (this.#seen.size === USES_MAX) throw new Unreadable();
    this.#names += path.length;
    if (this.#names > NAMES_MAX) throw new Unreadable();
    this.#seen.add(key);
    this.found.uses.push({ path, tail, ...more });
  }

  #visit(): void {
    if (++this.#visits > VISITS_MAX) throw new Unreadable();
  }

  #parse(text: string, parse: (text: string) => Path | null): Path {
    const path = parse(text);
    if (path === null) throw new Unreadable();
    return path;
  }

  #text(value: JsonSpan): string {
    if (value.kind !== 'string') throw new Unreadable();
    return decodeString(this.#bytes, value);
  }

  #elements(array: JsonSpan, visit: (element: JsonSpan) => void): void {
    readElements(this.#bytes, array, (element) => {
      this.#visit();
      visit(element);
      return true;
    });
  }

  #members(object: JsonSpan, visit: (name: string, value: JsonSpan) => void): void {
    if (object.kind !== 'object') throw new Unreadable();
    const members: JsonMember[] = readMembers(this.#bytes, object, VISITS_MAX + 1);
    if (members.length > VISITS_MAX) throw new Unreadable();
    for (const { name, value } of members) visit(name, value);
  }

  #hasString({ start, end }: JsonSpan): boolean {
    return this.#bytes.subarray(start, end).includes(QUOTE);
  }

  /** Null, false, and a list, object or text without content. */
  #isEmpty(value: JsonSpan): boolean {
    if (isLeftOut(value)) return true;
    if (value.kind === 'string') return value.end - value.start === 2;
    if (value.kind !== 'array' && value.kind !== 'object') return false;
    return skipWhiteSpace(this.#bytes, value.start + 1, value.end) === value.end - 1;
  }
}
