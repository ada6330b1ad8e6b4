/** Arguments that several tools take, so that they have the same name, type and description everywhere. */
import { z } from 'zod';

const NAME_LENGTH_MAX = 128;

export const instance = z
  .string()
  .max(NAME_LENGTH_MAX)
  .optional()
  .describe('Odoo server, by its name in get_context. Leave it out if there is only one.');

export const instances = z
  .array(z.string().max(NAME_LENGTH_MAX))
  .min(1)
  .max(100)
  .optional()
  .describe('Several servers at once, in place of `instance`; "*" stands for any text.');

export const model = z
  .string()
  .regex(/^[A-Za-z0-9_.]+$/, 'expected the technical name of a model, such as "res.partner"')
  .max(NAME_LENGTH_MAX)
  .describe('Technical name, e.g. res.partner, sale.order.');

const conditions = z
  .array(z.unknown())
  // Odoo's own message about a domain of the wrong form is Python's, such as "string index out of range".
  .refine((items) => items.every(isPartOfDomain), {
    error: 'expected conditions [field, operator, value], e.g. [["name","ilike","deco"]]',
  })
  .optional();

function isPartOfDomain(item: unknown): boolean {
  return Array.isArray(item) ? item.length === 3 : typeof item !== 'string' || /^[&|!]$/.test(item);
}

export const domain = conditions.describe(
  'Odoo domain as JSON: conditions [field, operator, value], all of which must hold, e.g. [["state","=","draft"],["partner_id","ilike","deco"]]; either: ["|",["city","=","Namur"],["city","=","Gent"]]. Day of a datetime, in the time zone of the user: ["date_order",">=","2026-05-31"] from its beginning, "<=" to its end, both for one day. Times: "2026-05-31T22:00:00+02:00", or in UTC "2026-05-31 20:00:00". Operators: = != > >= < <= in "not in" like ilike "not ilike" =like =ilike (with %) child_of parent_of. Archived records too: ["active","in",[true,false]].',
);

export const sameDomain = conditions.describe('As in search_records.');

export const fields = z
  .array(z.string())
  .max(100)
  .optional()
  .describe('Names of fields. Left out: the most important ones.');

export const fieldPaths = (leftOut: string) =>
  z
    .array(z.string())
    .max(100)
    .optional()
    .describe(
      `Names of fields; with a dot, those of related records: "order_line.price_unit", "category_id.name". Left out: ${leftOut}.`,
    );

export const ids = (max: number) =>
  z.array(z.int().positive()).min(1).max(max).describe('Ids of records, e.g. [42].');

export const values = z
  .record(z.string(), z.unknown())
  .describe(
    'Fields with their values. Many2one: an id. One2many and many2many: {"add":[ids]}, {"remove":[ids]}, {"create":[{…}]}, {"update":[{"id":4,…}]}. Datetime: "2026-05-31T22:00:00+02:00". Empty: null.',
  );

/** Accepts one value, or a list of several. */
export const oneOrMore = <Schema extends z.ZodType>(one: Schema, max: number) =>
  z.union([one, z.array(one).min(1).max(max)], {
    error: `expected an object, or a list of 1 to ${max} objects`,
  });

export const context = z
  .record(z.string(), z.unknown())
  .optional()
  .describe('Context of Odoo, such as that of a dialog. Datetimes in UTC: "2026-05-31 20:00:00".');

export const lang = z
  .string()
  .regex(/^[a-z]{2,3}(_[A-Z0-9]{2,4})?(@[A-Za-z]+)?$/, 'expected a language of Odoo, such as "fr_FR"')
  .optional()
  .describe('Language of names and labels, e.g. "fr_FR". Left out: that of the user.');

export const order = z.string().max(500).optional().describe('E.g. "date_order desc".');

export const limit = (standard: number, max: number) =>
  z.int().positive().max(max).optional().describe(`At most this many. Default: ${standard}.`);

export const offset = z.int().nonnegative().optional().describe('`next` of the previous answer.');

export const approval = z
  .string()
  .max(64)
  .optional()
  .describe('Id from an error approval_required, once an administrator has approved this same call.');

export const note = z.string().optional();
export const record = z.record(z.string(), z.unknown());
export const next = z.int().optional().describe('There are more: send this as `offset`.');
export const clipped = z
  .array(z.string())
  .optional()
  .describe(
    'Fields of which a part is shown. read_records of one id and one field reads a text on by `offset`.',
  );
export const unknownFields = z
  .array(z.string())
  .optional()
  .describe('Fields that do not exist, with similar names.');
export const notRead = z
  .record(z.string(), z.string())
  .optional()
  .describe('Why related records were not read.');
export const timeZone = z.string().optional().describe('The zone of days in `domain`, and of date groups.');
export const link = z.string().optional().describe('Address in Odoo; replace {id} by the id of a record.');
