/** The definitions of tools, as `tools/list` returns them. */
import { z } from 'zod';
import type { Tool } from './tool.ts';
import { ALL_TOOLS } from './tools/all-tools.ts';

type JsonObject = { type: 'object'; [name: string]: unknown };

/** Created once, because that takes long. */
const DEFINITIONS = ALL_TOOLS.map((tool) => ({
  tool,
  forOne: describe(tool, false),
  forSeveral: describe(tool, true),
}));

/** `hasInstances`: whether the key may call several instances. Otherwise the argument for the instance is left out. */
export function listTools(tools: readonly Tool[], hasInstances: boolean) {
  return DEFINITIONS.filter(({ tool }) => tools.includes(tool)).map(({ forOne, forSeveral }) =>
    hasInstances ? forSeveral : forOne,
  );
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
      // JavaScript's bounds of integers mean nothing to a caller.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.propertyNames !== undefined) delete jsonSchema.propertyNames;
    },
  });
  return rest as JsonObject;
}
