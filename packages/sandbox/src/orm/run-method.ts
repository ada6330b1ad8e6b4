/** Calls a method of records as other methods do: without the checks and the conversions of calls from outside. */
import type { Json, JsonObject } from '../json/value.ts';
import type { Environment } from './model.ts';

export function runMethod(
  environment: Environment,
  modelName: string,
  ids: readonly Json[],
  name: string,
  values: JsonObject = {},
): Json | undefined {
  const model = environment.model(modelName);
  return model.methods.get(name)?.run({ environment, model, ids, values });
}
