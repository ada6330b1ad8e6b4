/** Finds a method that may be called remotely, like Odoo's get_public_method. */
import type { Environment, Method, Model } from './model.ts';

export function findMethod(environment: Environment, model: Model, name: string): Method {
  const { texts, privateMethods } = environment.personality;
  const isPrivate = name.startsWith('_') || privateMethods.has(name);
  if (isPrivate) throw texts.privateMethod(model.name, name);
  const method = model.methods.get(name);
  if (!method) throw texts.unknownMethod(model.name, name, model.fields.has(name));
  return method;
}
