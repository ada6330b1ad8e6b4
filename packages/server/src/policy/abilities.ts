/**
 * What a key may do at all, for lists of models and of tools. It reads the policy alone: each call is still judged with
 * its arguments (decide.ts).
 */
import { compileGlob, type DataRoute } from '@erp-proxy/contract';
import { NAME_SEARCH } from '../odoo/fields/field-sources.ts';
import { isReadOnlyMethod } from '../odoo/methods.ts';
import { findSensitivity } from '../odoo/sensitive/sensitive-methods.ts';
import type { CompiledPolicy } from './compile.ts';
import { decideData } from './decide.ts';

/** Methods of the ORM that read or write records. Other methods are those of business logic. */
const RECORD_METHODS = [
  'create',
  'write',
  'unlink',
  'copy',
  'load',
  'name_create',
  'default_get',
  'onchange',
];
/** Names of methods of business logic, for patterns that allow all of them. */
const BUSINESS_METHODS = ['action_confirm', 'button_confirm', 'message_post'];

/** True if the policy allows the method on this model. `policy` null: the key has none. */
export function mayCall(policy: CompiledPolicy | null, model: string, method: string): boolean {
  if (policy === null) return true;
  const ofModel = policy.models.filter(({ matches }) => matches(model));
  if (!ofModel.some(({ methods }) => methods.find(method) !== undefined)) return false;
  if (policy.policy.read_only === true && !isReadOnlyMethod(method, model)) return false;
  if (findSensitivity(model, method) === null) return true;
  return ofModel.some(({ pattern, methods }) => pattern === model && methods.has(method));
}

/** True if the policy allows any method on this model. */
export function mayUseModel(policy: CompiledPolicy | null, model: string): boolean {
  return policy?.models.some(({ matches }) => matches(model)) ?? true;
}

/** False if the policy allows one of the methods on all models, also on those that it does not name. */
export function restrictsModels(policy: CompiledPolicy | null, methods: readonly string[]): boolean {
  if (policy === null) return false;
  const ofAll = policy.models.filter(({ pattern }) => pattern === '*');
  return !ofAll.some((rule) => methods.some((method) => rule.methods.find(method) !== undefined));
}

/** True if the policy allows the method on any model. */
export function mayCallAnywhere(policy: CompiledPolicy | null, method: string): boolean {
  if (policy === null) return true;
  if (policy.policy.read_only === true && !isReadOnlyMethod(method)) return false;
  return policy.models.some(({ methods }) => methods.find(method) !== undefined);
}

/** True if the policy allows to search the records of a model by name. */
export function maySearchByName(policy: CompiledPolicy | null, model: string): boolean {
  return mayUseField(policy, model, NAME_SEARCH);
}

/** True if no rule denies the field itself. Fields that show its value are not looked at. */
export function mayUseField(policy: CompiledPolicy | null, model: string, field: string): boolean {
  return policy === null || policy.fields === null || policy.fields.findDenying(model, field) === null;
}

/** True if the policy allows to move data in this way. */
export function mayUseData(policy: CompiledPolicy | null, route: DataRoute): boolean {
  return decideData(policy, route) === null;
}

/** True if the policy allows a method of business logic on any model. */
export function mayCallBusinessMethods(policy: CompiledPolicy | null): boolean {
  if (policy === null) return true;
  if (policy.policy.read_only === true) return false;
  const patterns = Object.values(policy.policy.models).flat();
  return patterns.some((pattern) => {
    if (!pattern.includes('*')) return !isReadOnlyMethod(pattern) && !RECORD_METHODS.includes(pattern);
    const isMatch = compileGlob(pattern);
    return (
      BUSINESS_METHODS.some(isMatch) || !['search_read', 'read', 'web_read', ...RECORD_METHODS].some(isMatch)
    );
  });
}

/** True if tools for agents may make the call without asking a person. */
export function mayCallUnattended(policy: CompiledPolicy | null, model: string, method: string): boolean {
  if (policy === null) return false;
  return policy.unattended.some(
    ({ matches, methods }) => matches(model) && methods.find(method) !== undefined,
  );
}

/** The models that the policy names without `*`. */
export function listNamedModels(policy: CompiledPolicy | null): string[] {
  return Object.keys(policy?.policy.models ?? {}).filter((pattern) => !pattern.includes('*'));
}
