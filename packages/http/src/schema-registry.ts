/** Names schemas for the OpenAPI document, and renders them there. Knows no particular schema. */
import { named, SCHEMA_NAMES } from '@erp-proxy/contract/admin';
import { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const SHOWN_AS = new Map<z.core.$ZodType, z.ZodType>();

export { named };

/** Lets a schema appear in the document as another, named one, for input that is not parsed by its schema. */
export function showAs<Schema extends z.ZodType>(shown: z.ZodType, schema: Schema): Schema {
  SHOWN_AS.set(schema, shown);
  return schema;
}

/** Returns a reference to a named schema. */
export function refer(schema: z.core.$ZodType): { $ref: string } {
  const name = SCHEMA_NAMES.get(schema)?.id;
  if (name === undefined) throw new Error('A schema of the OpenAPI document has no name.');
  return { $ref: locate(name) };
}

export function renderNamedSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(SCHEMA_NAMES, {
    io: 'input',
    uri: locate,
    unrepresentable: 'any',
    override,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

/** Renders the members of an object schema as parameters of the path or the query. */
export function renderParameters(place: 'path' | 'query', schema: z.ZodType | undefined): object[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'output', override });
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...rest } = typeof member === 'object' ? member : {};
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function locate(name: string): string {
  return `#/components/schemas/${name}`;
}

function override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema }): void {
  const shown = SHOWN_AS.get(zodSchema);
  if (shown !== undefined) Object.assign(jsonSchema, refer(shown));
  // Removed, because zod adds the range of safe integers, which is not a rule of the API.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
