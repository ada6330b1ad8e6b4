/** Builds the domain that finds records by a text, such as a name that a tool has shown. Pure. */
import type { Field, Fields } from './fields.ts';

export interface TextSearch {
  /** The fields of the model. */
  fields: Fields;
  text: string;
  /** Lists paths of a many2one field and its records that the text may be compared with, such as `partner_id`. */
  listPaths: (field: string, relation: string) => readonly string[];
  /** Whether the key may follow a path to variants of products; '' if the records are variants themselves. */
  mayCompareVariants: (path: string) => boolean;
  /** Whether the key may search by the names of the records, which can compare their other fields. */
  mayCompareNames: boolean;
  /** Ids of records that Odoo's own search by name has found. */
  ids: readonly number[];
}

type Condition = readonly [field: string, operator: string, value: unknown];

/** Fields whose values people use as names. Those that a model has are compared. */
const TEXT_FIELDS = [
  'name',
  'complete_name',
  'display_name',
  'code',
  'default_code',
  'barcode',
  'ref',
  'reference',
  'client_order_ref',
  'partner_ref',
  'payment_reference',
  'origin',
  'invoice_origin',
  'login',
  'email',
  'email_from',
  'work_email',
  'phone',
  'vat',
  'acc_number',
  'contact_name',
  'partner_name',
  'product_name',
  'product_code',
  'record_name',
  'summary',
  'subject',
  'body',
];
/** Many2one fields by whose name people look for a record. */
const NAMING_FIELDS = [
  'partner_id',
  // The vendor of `product.supplierinfo` up to 15.
  'name',
  'product_id',
  'product_tmpl_id',
  'order_id',
  'move_id',
  'picking_id',
  'employee_id',
  'activity_type_id',
];
/** Further fields that Odoo composes names from. Compared with the parts of a name. */
const PART_FIELDS = [
  'account_id',
  'currency_id',
  'department_id',
  'holiday_status_id',
  'location_dest_id',
  'location_id',
  'lot_id',
  'order_partner_id',
  'parent_id',
  'project_id',
  'task_id',
  'warehouse_id',
];
const PART_TEXT_FIELDS = ['name', 'move_name', 'code', 'default_code', 'ref', 'reference', 'origin'];
const PARTS_MAX = 5;
/** The end of a name with an amount, such as `: 3.00 days (11/30/2026)` and ` (12.0 Units - $ 90.00)`. */
const AMOUNT_END = /(?:\s?:| \()\s?\d[\d.,]*\s\D.*$/;
/** A word that joins two names in one, in any language: `Ann Lee on Sick Time Off`. */
const LINK_WORD = /^\p{Ll}{1,4}$/u;
/** Maximum link words of a text that are tried: each adds two conditions for each field to the search. */
const LINKS_MAX = 5;
const CODE_FIELDS = ['default_code', 'code'];
const TEXT_TYPES = new Set(['char', 'text']);
export const VARIANTS = 'product.product';
/** Field of variants with the attribute values that distinguish them. */
export const VARIANT_VALUES = 'product_template_attribute_value_ids';

/** Null if the model has no field that a text can be compared with. */
export function searchByText({
  fields,
  text,
  listPaths,
  mayCompareVariants,
  mayCompareNames,
  ids,
}: TextSearch): unknown[] | null {
  const has = (name: string) => canCompareText(name, fields) && (name !== 'display_name' || mayCompareNames);
  const contains = (path: string): Condition[] => [[path, 'ilike', text]];
  // Records without a name of their own are named by other records, such as stock by its location.
  const isNamed = has('name') || has('reference');
  const naming = listNamingPaths([...NAMING_FIELDS, ...(isNamed ? [] : PART_FIELDS)], fields, listPaths);
  const toVariants = [
    ...(fields.has(VARIANT_VALUES) ? [''] : []),
    ...(fields.get('product_id')?.relation === VARIANTS ? ['product_id'] : []),
  ].filter(mayCompareVariants);
  const alternatives: Condition[][] = [
    ...[...TEXT_FIELDS.filter(has), ...naming].map(contains),
    ...CODE_FIELDS.filter(has).flatMap((code) => matchCode(text, code, has('name'))),
    ...toVariants.flatMap((path) => matchVariant(text, path)),
  ];
  if (ids.length > 0) alternatives.push([['id', 'in', ids]]);
  // Odoo's name for an invoice without a number ends with its id.
  const [, id] = / \(\* (\d{1,9})\)$/.exec(text) ?? [];
  if (id !== undefined) alternatives.push([['id', '=', Number(id)]]);
  if (alternatives.length === 0) return null;
  return join(
    '|',
    alternatives.map((conditions) =>
      join(
        '&',
        conditions.map((condition) => [condition]),
      ),
    ),
  );
}

/**
 * The domain that finds records whose names Odoo composes, such as `S00025 - Large Cabinet`: each part of the text must
 * be in one of the fields. Null if the text has no parts, or if the model has no fields for them.
 */
export function searchByParts({
  fields,
  text,
  listPaths,
}: Pick<TextSearch, 'fields' | 'text' | 'listPaths'>): unknown[] | null {
  const paths = [
    ...PART_TEXT_FIELDS.filter((name) => canCompareText(name, fields)),
    ...listNamingPaths([...NAMING_FIELDS, ...PART_FIELDS], fields, listPaths),
  ];
  const divisions = divideName(text);
  if (divisions.length === 0 || paths.length === 0) return null;
  const findPart = (part: string) =>
    join(
      '|',
      paths.map((path) => [[path, 'ilike', part]]),
    );
  return join(
    '|',
    divisions.map((parts) => join('&', parts.map(findPart))),
  );
}

/** The possible divisions of a text into parts from which Odoo may have composed it as a name. */
function divideName(text: string): string[][] {
  const number = /^(\S*\d\S*) (.+)$/.exec(text);
  // An amount is in no text field.
  const named = text.replace(AMOUNT_END, '');
  const divisions = [
    ...(named === text ? [] : [[named], ...divideAtLinks(named)]),
    // A move of stock: `S00025/FURN_0100: Stock>Customers`.
    text.includes('>') ? text.split(/[/:>]/) : [],
    text.split(': '),
    text.split(' - '),
    text.split(' / '),
    text.split(/ ?\(|\) ?/),
    text.split(/ - | \((?=[^()]*\)$)|\)$/),
    number === null ? [] : number.slice(1),
  ];
  const seen = new Set<string>();
  return divisions
    .map((parts) => parts.map((part) => part.trim()).filter((part) => part !== ''))
    .filter(({ length }) => length > 0 && length <= PARTS_MAX)
    .filter((parts) => parts[0] !== text && seen.size < seen.add(parts.join('\n')).size);
}

function divideAtLinks(text: string): string[][] {
  const words = text.split(/\s+/);
  const links = words.flatMap((word, at) => (LINK_WORD.test(word) ? [at] : []));
  return links.slice(0, LINKS_MAX).map((at) => [words.slice(0, at).join(' '), words.slice(at + 1).join(' ')]);
}

function listNamingPaths(
  names: readonly string[],
  fields: Fields,
  listPaths: TextSearch['listPaths'],
): string[] {
  return names.flatMap((name) => {
    const field = fields.get(name);
    if (field?.type !== 'many2one' || field.relation === undefined || !canSearch(field)) return [];
    return listPaths(name, field.relation);
  });
}

/**
 * True if Odoo has a rule for the names of the records, and can search by it. Without a rule, its search by name finds
 * every record.
 */
export function hasNameRule(fields: Fields): boolean {
  const name = fields.get('name') ?? fields.get('x_name');
  return name !== undefined && canSearch(name);
}

function canCompareText(name: string, fields: Fields): boolean {
  const field = fields.get(name);
  if (field === undefined || !canSearch(field)) return false;
  if (name === 'display_name') return field.store === true || hasNameRule(fields);
  return TEXT_TYPES.has(field.type) || (name === 'body' && field.type === 'html');
}

/** True for the name of a product variant, too: it is that of the product, and searchable although not stored. */
function canSearch({ searchable, store }: Field): boolean {
  return searchable ?? store !== false;
}

/**
 * Matches `[E-COM11] Cabinet with Doors` by the code alone, as Odoo does, and `400000 Product Sales` by code and name.
 */
function matchCode(text: string, field: string, hasName: boolean): Condition[][] {
  const [, inBrackets] = /^\[([^\]]+)\]/.exec(text) ?? [];
  if (inBrackets !== undefined) return [[[field, '=', inBrackets]]];
  const [, first, rest] = /^(\S+) (.+)$/.exec(text) ?? [];
  if (first === undefined || !hasName || field !== 'code') return [];
  return [
    [
      [field, '=ilike', escapePattern(first)],
      ['name', 'ilike', rest],
    ],
  ];
}

/** Matches `Conference Chair (Steel)`: the values in brackets are attribute values of the variant. */
function matchVariant(text: string, path: string): Condition[][] {
  const [, name, values] = /^(.+?) \(([^()]+)\)$/.exec(text.replace(/^\[[^\]]*\] ?/, '')) ?? [];
  if (name === undefined || values === undefined) return [];
  const prefix = path === '' ? '' : `${path}.`;
  const ofValues = values.split(',').map((value) => value.trim());
  return [
    [
      [`${prefix}name`, 'ilike', name],
      ...ofValues.map(
        (value): Condition => [`${prefix}${VARIANT_VALUES}.name`, '=ilike', escapePattern(value)],
      ),
    ],
  ];
}

/** Escapes a pattern of `=ilike`, which fails if it ends with a backslash. */
function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Joins domains in Odoo's prefix notation to one. `domains` has at least one. */
function join(operator: '|' | '&', domains: readonly (readonly unknown[])[]): unknown[] {
  return [...Array(domains.length - 1).fill(operator), ...domains.flat()];
}
