/**
 * Runs one call of /json/2: named arguments, `ids` and `context` of a method, with Odoo's order of checks
 * (docs/odoo-facts.md#json2-check-order, docs/odoo-facts.md#json2-arguments).
 */
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { bindNames } from '../orm/bind-names.ts';
import { enterContext } from '../orm/enter-context.ts';
import { Fault } from '../orm/fault.ts';
import { findMethod } from '../orm/find-method.ts';
import { browseIds } from '../orm/list-items.ts';
import type { Environment, Method, Model } from '../orm/model.ts';
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
