/** The fields of a model as `fields_get` describes them: finds fields by words, and chooses the fields to show. */
import { cutText } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { listOtherNames } from '@erp-proxy/odoo';
import { findNearestOfMany } from '@erp-proxy/text';
import { listDefaultFields } from './default-fields.ts';

export interface Field {
  readonly type: string;
  /** The label in the language of the user. */
  readonly string: string;
  /** The label in English, if it differs. */
  readonly english?: string;
  readonly help?: string;
  readonly relation?: string;
  readonly selection?: readonly (readonly [string, string])[];
  readonly required?: boolean;
  readonly readonly?: boolean;
  readonly store?: boolean;
  readonly searchable?: boolean;
  readonly sortable?: boolean;
  /** Stated from Odoo 18 on. */
  readonly groupable?: boolean;
  /** The field with the currency of an amount. */
  readonly currency_field?: string;
}

export type Fields = ReadonlyMap<string, Field>;

/** The attributes of fields that are read. */
export const FIELD_ATTRIBUTES = [
  'type',
  'string',
  'help',
  'relation',
  'selection',
  'required',
  'readonly',
  'store',
  'searchable',
  'sortable',
  'groupable',
  'currency_field',
];

/**
 * Fields that are shown of a model without default fields, unless the caller names others: those that exist, in this
 * order.
 */
const MAIN_FIELDS = [
  'name',
  'display_name',
  'default_code',
  'ref',
  'login',
  'partner_id',
  'parent_id',
  'state',
  'stage_id',
  'payment_state',
  'email',
  'phone',
  'mobile',
  'city',
  'country_id',
  'product_id',
  'product_uom_qty',
  'quantity',
  'qty_available',
  'price_unit',
  'list_price',
  'price_subtotal',
  'user_id',
  'date_order',
  'invoice_date',
  'invoice_date_due',
  'date_deadline',
  'scheduled_date',
  'start',
  'date',
  'amount_total',
  'amount_residual',
  'expected_revenue',
  'probability',
  'order_id',
  'move_id',
  'job_id',
  'department_id',
  'active',
];
const SHOWN_MAX = 8;
const SHOWN_MIN = 3;
/** Types that are long, or whose value says little. Such fields are shown only if they are named. */
const HIDDEN_TYPES = new Set([
  'binary',
  'html',
  'text',
  'one2many',
  'many2many',
  'json',
  'properties',
  'properties_definition',
  'serialized',
  'many2one_reference',
]);
const FRAMEWORK_NAMES =
  /^(message_|activity_|website_|access_|signup_|rating_|my_activity|__|create_|write_|has_message|image_|avatar_|color$|sequence$)/;
/** Fields that say little about most records. */
const MINOR_NAMES = /^(is_|active$)/;
const FIELD_NAME = /^[\w$]{1,128}$/;
const MODEL_NAME = /^[\w.]{1,128}$/;
/** Maximum lengths of a label and of a help text. Longer texts are cut. */
const LABEL_LENGTH_MAX = 200;
const HELP_LENGTH_MAX = 2000;
const NEAREST_MAX = 3;
/** Maximum unknown names in an error. More of them come from confused or hostile callers. */
const UNKNOWN_MAX = 8;

/** Leaves out everything that no Odoo sends: invalid names, and attributes of a wrong type. */
export function readFields(described: unknown, english: unknown = null): Fields {
  const fields = new Map<string, Field>();
  for (const [name, value] of Object.entries(isObject(described) ? described : {})) {
    if (!isObject(value) || !FIELD_NAME.test(name)) continue;
    const field = readField(name, value);
    const translated = isObject(english) ? english[name] : undefined;
    const other = isObject(translated) ? readText(translated['string'], LABEL_LENGTH_MAX) : null;
    fields.set(name, other === null || other === field.string ? field : { ...field, english: other });
  }
  return fields;
}

function readField(name: string, value: Record<string, unknown>): Field {
  const { type, relation, selection, required, readonly, store, currency_field } = value;
  const { searchable, sortable, groupable } = value;
  const help = readText(value['help'], HELP_LENGTH_MAX);
  return {
    type: typeof type === 'string' && FIELD_NAME.test(type) ? type : 'unknown',
    string: readText(value['string'], LABEL_LENGTH_MAX) ?? name,
    ...(help === null ? {} : { help }),
    ...(typeof relation === 'string' && MODEL_NAME.test(relation) ? { relation } : {}),
    ...(Array.isArray(selection) ? { selection: selection.flatMap(readOption) } : {}),
    ...(typeof required === 'boolean' ? { required } : {}),
    ...(typeof readonly === 'boolean' ? { readonly } : {}),
    ...(typeof store === 'boolean' ? { store } : {}),
    ...(typeof searchable === 'boolean' ? { searchable } : {}),
    ...(typeof sortable === 'boolean' ? { sortable } : {}),
    ...(typeof groupable === 'boolean' ? { groupable } : {}),
    ...(typeof currency_field === 'string' ? { currency_field } : {}),
  };
}

/** Returns a list with the value of a selection and its label; an empty list if the option is invalid. */
function readOption(option: unknown): [string, string][] {
  if (!Array.isArray(option)) return [];
  const [key, label] = option;
  // Modules also use numbers and false as values.
  if (!['string', 'number', 'boolean'].includes(typeof key)) return [];
  const value = copyStart(String(key), LABEL_LENGTH_MAX);
  return [[value, readText(label, LABEL_LENGTH_MAX) ?? value]];
}

function readText(value: unknown, lengthMax: number): string | null {
  return typeof value === 'string' ? copyStart(value, lengthMax) : null;
}

/** Copies the text, because a slice would keep the whole text in memory. */
function copyStart(text: string, lengthMax: number): string {
  return text.length > lengthMax ? Buffer.from(cutText(text, lengthMax)).toString() : text;
}

/** Estimated bytes of a field and of an option without their texts. */
const FIELD_BYTES = 200;
const OPTION_BYTES = 150;

/** Estimates the bytes that the fields take in memory. */
export function weighFields(fields: Fields): number {
  let bytes = 0;
  for (const [name, { string, english = '', help = '', currency_field = '', selection = [] }] of fields) {
    bytes += FIELD_BYTES + [name, string, english, help, currency_field].join('').length;
    for (const option of selection) bytes += OPTION_BYTES + option.join('').length;
  }
  return bytes;
}

/** The fields to show, at least one. */
export function chooseShown(fields: Fields, model: string): string[] {
  const ofModel = listDefaultFields(model)?.filter((name) => fields.has(name)) ?? [];
  return ofModel.length > 0 ? withCurrency(ofModel, fields) : chooseMain(fields);
}

/** How queries can use a field. `groupable` is absent if neither the server nor the type decides it. */
export function describeUses({ type, store, searchable, sortable, groupable }: Field) {
  const isStored = store !== false;
  const isSortable = sortable ?? (isStored && !LISTS.has(type));
  // From Odoo 15 on, a many2many field can be grouped by; before, it cannot.
  const isGroupable = groupable ?? (type === 'many2many' && isStored ? undefined : isSortable);
  return {
    searchable: searchable ?? isStored,
    sortable: isSortable,
    ...(isGroupable === undefined ? {} : { groupable: isGroupable }),
  };
}

const LISTS = new Set(['one2many', 'many2many']);

/** Chooses name fields first, and at least one field. */
function chooseMain(fields: Fields): string[] {
  const main = MAIN_FIELDS.filter((name) => {
    const field = fields.get(name);
    if (field === undefined || (name === 'display_name' && fields.has('name'))) return false;
    return name !== 'active' && !HIDDEN_TYPES.has(field.type);
  });
  const others =
    main.length >= SHOWN_MIN
      ? []
      : listPlain(fields).filter((name) => !MINOR_NAMES.test(name) && !main.includes(name));
  const shown = [...main, ...others].slice(0, main.length >= SHOWN_MIN ? SHOWN_MAX : SHOWN_MIN + 2);
  return shown.length > 0 ? withCurrency(shown, fields) : ['display_name'];
}

/** Adds the currency of an amount, without which the amount says little. */
function withCurrency(shown: readonly string[], fields: Fields): string[] {
  const amount = shown.map((name) => fields.get(name)).find((field) => field?.type === 'monetary');
  const currency = amount?.currency_field || 'currency_id';
  const isKnown = amount !== undefined && fields.get(currency)?.type === 'many2one';
  return isKnown ? [...new Set([...shown, currency])] : [...shown];
}

/** For one record: all fields except long ones and those of the framework. */
export function choosePlain(fields: Fields, model: string, max: number): string[] {
  return [...new Set([...chooseShown(fields, model), ...listPlain(fields)])].slice(0, max);
}

/** Fields that {@link choosePlain} leaves out, but whose values can be of interest. */
export function chooseOthers(fields: Fields, chosen: readonly string[], max: number): string[] {
  const others = listStored(fields).filter((name) => !chosen.includes(name));
  return others.slice(0, max);
}

/**
 * True for a field of the model of activities. Fields of other models about their activities are lists, or not stored.
 */
function isOfActivity(name: string, { type }: Field): boolean {
  return name.startsWith('activity_') && type === 'many2one';
}

function listPlain(fields: Fields): string[] {
  return listStored(fields).filter((name) => !HIDDEN_TYPES.has(fields.get(name)?.type ?? ''));
}

/** Stored fields, except those of the framework, `id` and `display_name`. */
function listStored(fields: Fields): string[] {
  return [...fields]
    .filter(
      ([name, field]) => field.store !== false && (!FRAMEWORK_NAMES.test(name) || isOfActivity(name, field)),
    )
    .map(([name]) => name)
    .filter((name) => name !== 'id' && name !== 'display_name');
}

/** Maximum words that are compared: more do not find a field better. */
const WORDS_MAX = 10;

/** Fields that match the words, by name, label, translation and help; the best match first. */
export function matchFields(fields: Fields, query: string, max: number): string[] {
  const words = [...new Set(splitWords(query.toLowerCase()))].slice(0, WORDS_MAX);
  const rated = [...fields]
    .map(([name, field]) => ({ name, rating: rate(name, field, words) }))
    .filter(({ rating }) => rating > 0)
    .sort((a, b) => b.rating - a.rating || a.name.length - b.name.length || (a.name < b.name ? -1 : 1));
  return rated.slice(0, max).map(({ name }) => name);
}

function rate(
  name: string,
  { string, english = '', help = '', selection }: Field,
  words: readonly string[],
): number {
  const texts = [name, string, english].map((text) => text.toLowerCase());
  const parts = new Set(texts.flatMap((text) => text.split(/[^\p{L}\p{N}]+/u)));
  const values = (selection ?? []).flat().join(' ').toLowerCase();
  const helpText = help.toLowerCase();
  let rating = 0;
  for (const word of words) {
    const stem = word.length > 3 ? word.replace(/s$/, '') : word;
    if (texts.some((text) => text === word || text === stem)) rating += 10;
    else if (parts.has(stem)) rating += 6;
    else if (texts.some((text) => text.includes(stem))) rating += 4;
    else if (values.includes(stem)) rating += 2;
    else if (helpText.includes(stem)) rating += 1;
  }
  return FRAMEWORK_NAMES.test(name) || MINOR_NAMES.test(name) ? rating / 2 : rating;
}

function splitWords(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
}

export interface UnknownField {
  readonly name: string;
  /** True if the policy denies a field of this name, whether the model has it or not. */
  readonly isDenied?: boolean;
  /** Fields with a similar name or label, the nearest first. */
  readonly nearest: readonly string[];
}

export interface UnknownFields {
  readonly names: ReadonlySet<string>;
  /** The first few of the names. */
  readonly shown: readonly UnknownField[];
}

/** The names that the model lacks. A path is compared by its first field only. */
export function listUnknown(fields: Fields, names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name) => name !== 'id' && !fields.has(readHead(name))));
}

/** `isDenied`: tells whether the policy denies a field. */
export async function describeUnknown(
  fields: Fields,
  names: ReadonlySet<string>,
  isDenied: (field: string) => boolean,
): Promise<UnknownFields> {
  const shown: UnknownField[] = [];
  for (const name of [...names].slice(0, UNKNOWN_MAX)) {
    const head = readHead(name);
    if (isDenied(head)) shown.push({ name, isDenied: true, nearest: [] });
    else shown.push({ name, nearest: await findNear(fields, head, NEAREST_MAX) });
  }
  return { names, shown };
}

/** Up to `max` fields whose name or label is similar to a text, the nearest first. */
export function findNear(fields: Fields, text: string, max: number): Promise<string[]> {
  const listOtherTexts = (name: string) => {
    const { string, english } = fields.get(name) as Field;
    return [string, ...(english === undefined ? [] : [english]), ...listOtherNames('field', name)];
  };
  return findNearestOfMany(text, [...fields.keys()], max, { listOtherTexts });
}

/** The first field of a path, or the field of a grouping such as `date_order:month`. */
function readHead(name: string): string {
  return name.split(/[.:]/, 1)[0] as string;
}
