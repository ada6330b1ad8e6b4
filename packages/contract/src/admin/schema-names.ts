/** Names of schemas in the OpenAPI document, and schemas that all resources share. */
import { z } from 'zod';

export const SCHEMA_NAMES = z.registry<{ id: string }>();

/** Gives a schema a name in the document, where the schema is then rendered once. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  SCHEMA_NAMES.add(schema, { id });
  return schema;
}

export const time = z.string().meta({ format: 'date-time' });

export const version = z
  .int()
  .min(1)
  .describe('Number of changes. The ETag has it with the time of creation.');

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

/** Makes the members of `defaults` optional, with these default values. */
export function withDefaults<
  Shape extends Record<string, z.ZodType>,
  Defaults extends { readonly [Name in keyof Shape]?: unknown },
>(
  shape: Shape,
  defaults: Defaults,
): { [Name in keyof Shape]: Name extends keyof Defaults ? z.ZodDefault<Shape[Name]> : Shape[Name] } {
  const members = Object.entries(shape).map(([name, schema]) => [
    name,
    name in defaults ? schema.default(defaults[name]) : schema,
  ]);
  return Object.fromEntries(members);
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
