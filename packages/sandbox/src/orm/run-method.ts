/** Calls a method of records from another method: without the checks and conversions of remote calls. */
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
