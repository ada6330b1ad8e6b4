/** The schemas that have a name in the OpenAPI document, and how schemas are shown there. Knows none of them. */
import { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const SCHEMAS = z.registry<{ id: string }>();
const STAND_INS = new Map<z.core.$ZodType, z.ZodType>();

/** To be shown once, under this name. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  SCHEMAS.add(schema, { id });
  return schema;
}

/** To be shown as another one, which has a name: for what is not read by a schema. */
export function showAs<Schema extends z.ZodType>(shown: z.ZodType, schema: Schema): Schema {
  STAND_INS.set(schema, shown);
  return schema;
}

/** Where a named schema stands in the document. */
export function refer(schema: z.core.$ZodType): { $ref: string } {
  const name = SCHEMAS.get(schema)?.id;
  if (name === undefined) throw new Error('A schema of the OpenAPI document has no name.');
  return { $ref: locate(name) };
}

export function renderNamedSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(SCHEMAS, { io: 'input', uri: locate, unrepresentable: 'any', override });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

/** The members of an object of path or query, as parameters. */
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
  const shown = STAND_INS.get(zodSchema);
  if (shown !== undefined) Object.assign(jsonSchema, refer(shown));
  // What JavaScript can count to is no rule of ours.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
