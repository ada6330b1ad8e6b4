/**
 * Calls a model's method as Odoo's call_kw does: private names, unknown names, ids, signature, context. The
 * protocol on top hands in positional and named arguments and gets the Python result.
 */
import { nameType } from '../json/print-python.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { bindArguments } from './bind-arguments.ts';
import type { Environment } from './environment.ts';
import { typeError, userError, valueError } from './fault.ts';
import type { Method, Model } from './model.ts';

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
  const inContext = environment.withContext(readDict(context ?? null));
  checkContext(inContext);
  const positional = [...args];
  if (method.kind === 'create' && positional.length === 0) throw environment.personality.texts.noIds();
  const ids = method.kind === 'record' ? takeIds(environment, positional) : [];
  const values = bindArguments(`${method.owner}.${name}`, method.parameters, positional, rest);
  return method.run({ environment: inContext, model, ids, values });
}

function findMethod(environment: Environment, model: Model, name: string): Method {
  const { texts, privateMethods } = environment.personality;
  const isPrivate = name.startsWith('_') || privateMethods.has(name);
  if (isPrivate) throw texts.privateMethod(model.name, name);
  const method = model.methods.get(name);
  if (!method) throw texts.unknownMethod(model.name, name, model.fields.has(name));
  return method;
}

function takeIds(environment: Environment, args: Json[]): readonly Json[] {
  if (args.length === 0) throw environment.personality.texts.noIds();
  const ids = args.shift() as Json;
  if (!ids) return [];
  if (typeof ids === 'number' || typeof ids === 'bigint') return [ids];
  return listItems(ids);
}

// What Python's tuple() makes of a value.
function listItems(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [...value];
  if (isObject(value)) return Object.keys(value);
  throw typeError(`'${nameType(value)}' object is not iterable`);
}

// What Python's dict() makes of a context.
function readDict(value: Json): JsonObject {
  if (!value) return {};
  if (isObject(value)) return value;
  const [first] = listItems(value);
  if (first === undefined) return {};
  throw valueError(`dictionary update sequence element #0 has length ${String(first).length}; 2 is required`);
}

function checkContext(environment: Environment): void {
  const { unknownLanguage } = environment.personality.texts;
  const code = environment.context['lang'];
  if (!unknownLanguage || typeof code !== 'string') return;
  const languages = [...environment.store.table('res.lang').values()];
  if (!languages.some((row) => row['code'] === code && row['active'])) throw unknownLanguage(code);
}
