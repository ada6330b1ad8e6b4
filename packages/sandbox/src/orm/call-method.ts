/**
 * Calls a model's method like Odoo's call_kw: private names, unknown names, ids, signature, context. The protocol
 * passes positional and named arguments and gets the Python result.
 */
import type { Json, JsonObject } from '../json/value.ts';
import { bindArguments } from './bind-arguments.ts';
import { enterContext } from './enter-context.ts';
import { userError } from './fault.ts';
import { findMethod } from './find-method.ts';
import { browseIds } from './list-items.ts';
import type { Environment } from './model.ts';

export function callMethod(
  environment: Environment,
  modelName: string,
  name: string,
  args: readonly Json[],
  named: JsonObject,
): Json | undefined {
  const model = environment.models.get(modelName);
  if (!model) throw userError(`Object ${modelName} doesn't exist`);
  const method = findMethod(environment, model, name);
  const { context, ...rest } = named;
  const inContext = enterContext(environment, context);
  const positional = [...args];
  const ids = method.kind === 'record' ? takeIds(environment, positional) : [];
  const values = bindArguments(`${method.owner}.${name}`, method.parameters, positional, rest);
  const result = method.run({ environment: inContext, model, ids, values });
  // Odoo reads this argument after the records are created, and only to choose the form of the result
  // (docs/odoo-facts.md#execute-kw-arguments).
  if (method.kind === 'create' && positional.length === 0) throw environment.personality.texts.noIds();
  // One dict gives one number; a list gives a list (docs/odoo-facts.md#create-result).
  const isOne = method.kind === 'create' && Array.isArray(result) && !Array.isArray(positional[0]);
  return isOne ? result[0] : result;
}

function takeIds(environment: Environment, args: Json[]): readonly Json[] {
  if (args.length === 0) throw environment.personality.texts.noIds();
  return browseIds(args.shift() as Json);
}
