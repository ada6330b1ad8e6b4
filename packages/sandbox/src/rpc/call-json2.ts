/**
 * Runs one call of /json/2: named arguments, `ids` and `context` of a method, with Odoo's order of checks
 * (docs/odoo-facts.md#json2-check-order, docs/odoo-facts.md#json2-arguments).
 */
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { fillDefaults } from '../orm/bind-arguments.ts';
import { enterContext } from '../orm/enter-context.ts';
import { Fault, typeError } from '../orm/fault.ts';
import { findMethod } from '../orm/find-method.ts';
import { browseIds } from '../orm/list-items.ts';
import type { Environment, Method, Model } from '../orm/model.ts';
import { parseSignature } from '../orm/parse-signature.ts';
import { httpFault } from './http-fault.ts';
import type { Instance } from './instance.ts';

export async function callJson2(
  instance: Instance,
  uid: number,
  modelName: string,
  name: string,
  body: Json,
): Promise<Json | undefined> {
  await instance.beginCall(modelName, name, uid);
  const environment = instance.environment(uid);
  // A body that is not an object means no arguments. The path names the method, whatever the body contains.
  const { ids = null, context, __model__, __method__, ...named } = isObject(body) ? body : ({} as JsonObject);
  const model = environment.models.get(modelName);
  if (!model) throw httpFault('NotFound', `the model '${modelName}' does not exist`);
  const method = findOrRefuse(environment, model, name);
  const records = browseIds(ids);
  if (method.kind !== 'record' && records.length > 0)
    throw httpFault('UnprocessableEntity', `cannot call ${modelName}.${name} with ids`);
  const values = bindOrRefuse(method, named);
  return environment.store.transact(() =>
    method.run({ environment: enterContext(environment, context), model, ids: records, values }),
  );
}

function findOrRefuse(environment: Environment, model: Model, name: string): Method {
  return translate('builtins.AttributeError', 'NotFound', () => findMethod(environment, model, name));
}

function bindOrRefuse(method: Method, named: JsonObject): JsonObject {
  return translate('builtins.TypeError', 'UnprocessableEntity', () => bindNames(method.parameters, named));
}

function translate<T>(from: string, to: Parameters<typeof httpFault>[0], work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Fault && error.name === from) throw httpFault(to, error.message);
    throw error;
  }
}

/**
 * Binds named arguments only, with the messages of Python's inspect.Signature.bind, which json2 uses
 * (docs/odoo-facts.md#json2-status).
 */
export function bindNames(parameters: string, named: JsonObject): JsonObject {
  const signature = parseSignature(parameters);
  const nameable = signature.filter(
    ({ kind }) => kind === 'POSITIONAL_OR_KEYWORD' || kind === 'KEYWORD_ONLY',
  );
  const missing = nameable.find((parameter) => parameter.default === undefined && !(parameter.name in named));
  if (missing) throw typeError(`missing a required argument: '${missing.name}'`);
  const unknown = Object.keys(named).find((key) => nameable.every((parameter) => parameter.name !== key));
  if (unknown !== undefined && signature.at(-1)?.kind !== 'VAR_KEYWORD')
    throw typeError(`got an unexpected keyword argument '${unknown}'`);
  return fillDefaults(signature, named);
}
