/** Names of schemas in the OpenAPI document, and schemas that all resources share. */
import { z } from 'zod';

export const SCHEMA_NAMES = z.registry<{ id: string }>();

/** Gives a schema a name in the document, where the schema is then rendered once. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  SCHEMA_NAMES.add(schema, { id });
  return schema;
}

export const FLAG_RULE = 'must be true or false';

export const time = z.string().meta({ format: 'date-time' });

export const version = z
  .int()
  .min(1)
  .describe('Number of changes. The ETag has it with the time of creation.');

/** Which stored instances somebody may see and change. */
export const instancePatterns = z
  .array(z.string())
  .nullable()
  .describe(
    'Patterns of the names of the instances, in which `*` stands for any text. Null: all, and the whole proxy.',
  );

export const search = z
  .string()
  .describe('Text that a listed object contains, ignoring the case of ASCII letters.')
  .exactOptional();

/** Makes all members optional. */
export function optional<Shape extends Record<string, z.ZodType>>(
  shape: Shape,
): { [Name in keyof Shape]: z.ZodExactOptional<Shape[Name]> } {
  const members = Object.entries(shape).map(([name, schema]) => [name, schema.exactOptional()]);
  return Object.fromEntries(members);
}

type Shape = Readonly<Record<string, z.ZodType>>;

/**
 * The optional members with their defaults: those in `others`, null for another member that can be null, and false for
 * another switch.
 */
export function listDefaults(shape: Shape, others: Readonly<Record<string, unknown>>) {
  const defaults: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    if (name in others) defaults[name] = others[name];
    else if (schema.isNullable()) defaults[name] = null;
    else if (schema instanceof z.ZodBoolean) defaults[name] = false;
  }
  return defaults;
}

/** The same members. Those with a default ({@link listDefaults}) may be left out. */
export function withDefaults<Members extends Shape>(
  members: Members,
  others: Readonly<Record<string, unknown>>,
): { [Name in keyof Members]: z.ZodType<z.output<Members[Name]>> } {
  const defaults = listDefaults(members, others);
  const entries = Object.entries(members).map(([name, schema]) => [
    name,
    name in defaults ? schema.default(defaults[name]) : schema,
  ]);
  return Object.fromEntries(entries);
}

/** A whole number in a query, where all values are text. */
export function wholeNumber(digitsMax = 9) {
  return z
    .string()
    .regex(new RegExp(`^\\d{1,${digitsMax}}$`), 'must be a whole number')
    .transform(Number);
}

/** One page of a list. `next` is the cursor of the next page, null on the last page. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    next: z.string().nullable().describe('The `cursor` of the next page; null on the last page.'),
  });
}

export const PAGE_QUERY = {
  cursor: z.string().describe('The `next` of the previous page.').exactOptional(),
  limit: wholeNumber().pipe(z.int().min(1).max(500)).describe('Items per page. Default: 50.').exactOptional(),
};

export const pageQuery = z.strictObject(PAGE_QUERY);
export type PageQuery = z.infer<typeof pageQuery>;
