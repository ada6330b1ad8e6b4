/**
 * Determines the models that a path of a call may lead into: models that the policy allows to read. Pure.
 * check-paths.ts applies it to the paths that a call names.
 */
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import type { ModelRule } from './model-rules.ts';

/** Methods that return any fields of their model that a call names. A policy that allows one of them allows reading. */
export const READING_METHODS = ['read', 'search_read', 'web_read', 'web_search_read'];

/** Callers choose the names of models, so the number of kept results is bounded. */
const MODELS_MAX = 1000;

/**
 * Whether a model may be read. Null: the policy allows one of the methods on `*`. Then {@link compileFollowedModels}
 * bounds paths.
 */
export function compileReadableModels(rules: readonly ModelRule[]): ((model: string) => boolean) | null {
  const readsAny = rules.some(
    ({ pattern, holdsFor }) => pattern === '*' && READING_METHODS.some((method) => holdsFor('*', method)),
  );
  if (readsAny) return null;
  const known = new Map<string, boolean>();
  return (model) => {
    const kept = known.get(model);
    if (kept !== undefined) return kept;
    const isReadable = READING_METHODS.some((method) => allowsMethod(rules, model, method));
    if (known.size === MODELS_MAX) known.clear();
    known.set(model, isReadable);
    return isReadable;
  };
}

/**
 * Determines the models whose fields a path may lead to. If all models may be read, these are all models except those
 * that hold credentials, which the policy must name.
 */
export function compileFollowedModels(
  rules: readonly ModelRule[],
  mayRead: ((model: string) => boolean) | null,
): (model: string) => boolean {
  if (mayRead !== null) return mayRead;
  return (model) =>
    READING_METHODS.every((method) => findSensitivity(model, method) !== null)
      ? READING_METHODS.some((method) => allowsMethod(rules, model, method))
      : true;
}

/** Whether the policy allows a direct call of the method. */
export function allowsMethod(rules: readonly ModelRule[], model: string, method: string): boolean {
  const isNamed = rules.some(({ pattern, methods }) => pattern === model && methods.has(method));
  if (isNamed || findSensitivity(model, method) !== null) return isNamed;
  return rules.some(({ matches, holdsFor }) => matches(model) && holdsFor(model, method));
}
