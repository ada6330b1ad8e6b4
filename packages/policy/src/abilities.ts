/**
 * Determines which models, methods and tools a key can use at all, for lists of models and tools. Reads only the
 * policy: each call is still checked with its arguments (decide.ts).
 */
import { compileGlob, type DataRoute, type StarMeaning } from '@erp-proxy/contract';
import { findUnknown, isReadOnlyMethod, listMethods } from '@erp-proxy/odoo';
import { NAME_SEARCH } from '@erp-proxy/odoo/fields';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import { FieldCheck, NOTHING_KNOWN } from './check-fields.ts';
import type { CompiledPolicy } from './compile.ts';
import { decideData, namesMethod } from './decide.ts';

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
  if (!ofModel.some(({ holdsFor }) => holdsFor(model, method))) return false;
  if (policy.policy.read_only === true && !isReadOnlyMethod(method, model)) return false;
  if (findSensitivity(model, method) === null) return true;
  return namesMethod(policy, model, method);
}

/** Which methods `*` stands for on this model. Null: no entry for the model has `*`, or it stands for every method. */
export function describeStar(policy: CompiledPolicy | null, model: string): StarMeaning | null {
  if (policy === null || policy.policy.allow_unknown_methods === true) return null;
  if (!policy.models.some(({ matches, hasStar }) => hasStar && matches(model))) return null;
  const isReadable = (method: string) => policy.policy.read_only !== true || isReadOnlyMethod(method, model);
  const meaning: StarMeaning = { methods: [], left_out: [] };
  for (const [method, unknown] of listMethods(model)) {
    const reason = findSensitivity(model, method) ?? unknown;
    if (reason !== null) meaning.left_out.push({ method, reason });
    else if (isReadable(method)) meaning.methods.push(method);
  }
  return meaning;
}

/**
 * Why the policy denies the method although an entry for the model has `*`, or another pattern of this method; null:
 * the policy denies it for another reason or allows it.
 */
export function findUnnamed(policy: CompiledPolicy, model: string, method: string): string | null {
  const ofModel = policy.models.filter(({ matches }) => matches(model));
  const isMatched = ofModel.some(({ holdsFor }) => holdsFor(model, method));
  if (!isMatched && !ofModel.some(({ hasStar }) => hasStar)) return null;
  const sensitivity = findSensitivity(model, method);
  if (sensitivity !== null) return namesMethod(policy, model, method) ? null : sensitivity;
  return isMatched ? null : findUnknown(model, method);
}

/** True if the policy allows any method on this model. */
export function mayUseModel(policy: CompiledPolicy | null, model: string): boolean {
  return policy?.models.some(({ matches }) => matches(model)) ?? true;
}

/** False if the policy allows one of the methods on all models, including models that it does not name. */
export function restrictsModels(policy: CompiledPolicy | null, methods: readonly string[]): boolean {
  if (policy === null) return false;
  const ofAll = policy.models.filter(({ pattern }) => pattern === '*');
  return !ofAll.some((rule) => methods.some((method) => rule.holdsFor(rule.pattern, method)));
}

/** True if the policy allows the method on any model. */
export function mayCallAnywhere(policy: CompiledPolicy | null, method: string): boolean {
  if (policy === null) return true;
  if (policy.policy.read_only === true && !isReadOnlyMethod(method)) return false;
  return policy.models.some(({ pattern, holdsFor }) => holdsFor(pattern, method));
}

/** True if the policy allows to search the records of a model by name, as far as is known without a server. */
export function maySearchByName(policy: CompiledPolicy | null, model: string): boolean {
  const rules = policy?.fields ?? null;
  const use = { path: [NAME_SEARCH], tail: null };
  return rules === null || new FieldCheck(rules, NOTHING_KNOWN).check(model, use) === null;
}

/** True if the policy allows to compare fields of related records of a model. */
export function mayReadByPath(policy: CompiledPolicy | null, model: string): boolean {
  return policy?.mayReadByPath?.(model) ?? true;
}

/** True if no rule denies the field itself. Other fields that show its value are not checked. */
export function mayUseField(policy: CompiledPolicy | null, model: string, field: string): boolean {
  if (policy === null) return true;
  return !policy.hiddenOf(model).has(field) && (policy.fields?.findDenying(model, field) ?? null) === null;
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
  return policy.unattended.some(({ matches, holdsFor }) => matches(model) && holdsFor(model, method));
}

/** The models that the policy names without `*`. */
export function listNamedModels(policy: CompiledPolicy | null): string[] {
  return Object.keys(policy?.policy.models ?? {}).filter((pattern) => !pattern.includes('*'));
}
