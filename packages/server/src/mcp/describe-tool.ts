/** The definition of a tool, as `tools/list` returns it. */
import { z } from 'zod';
import type { Tool } from './tool.ts';

type JsonObject = { type: 'object'; [name: string]: unknown };

type Definition = ReturnType<typeof describe>;

const one = new WeakMap<Tool, Definition>();
const several = new WeakMap<Tool, Definition>();

/** `hasInstances`: whether the key may call several. Otherwise a model need not know the argument. */
export function describeTool(tool: Tool, hasInstances: boolean): Definition {
  const described = hasInstances ? several : one;
  const known = described.get(tool);
  if (known !== undefined) return known;
  const made = describe(tool, hasInstances);
  described.set(tool, made);
  return made;
}

function describe({ name, title, description, input, output, hints }: Tool, hasInstances: boolean) {
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(
      hasInstances || !('instance' in input.shape) ? input : input.omit({ instance: true }),
    ),
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
