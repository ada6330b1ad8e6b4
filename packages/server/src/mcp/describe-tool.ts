/** The definition of a tool, as `tools/list` returns it. */
import { z } from 'zod';
import type { Tool } from './tool.ts';

type JsonObject = { type: 'object'; [name: string]: unknown };

const described = new WeakMap<Tool, ReturnType<typeof describe>>();

export function describeTool(tool: Tool): ReturnType<typeof describe> {
  const known = described.get(tool);
  if (known !== undefined) return known;
  const made = describe(tool);
  described.set(tool, made);
  return made;
}

function describe({ name, title, description, input, output, hints }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(input),
    outputSchema: toJsonSchema(output),
    annotations: { title, ...hints, openWorldHint: false },
  };
}

function toJsonSchema(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      // The bounds of integers that JavaScript has say nothing to a caller.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.propertyNames !== undefined) delete jsonSchema.propertyNames;
    },
  });
  return rest as JsonObject;
}
