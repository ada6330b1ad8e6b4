/**
 * The models that a path of a call may lead into: those that the policy lets be read. Pure. check-paths.ts applies them
 * to the paths that a call names.
 */
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import type { ModelRule } from './model-rules.ts';

/** Methods that return whatever fields of their model a call names. One of them is enough. */
export const READING_METHODS = ['read', 'search_read', 'web_read', 'web_search_read'];

/** Callers choose the models that are asked for, so the answers that are kept are bounded. */
const MODELS_MAX = 1000;

/** Null: the policy allows one of the methods on `*`. Then {@link compileFollowedModels} bounds paths. */
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
 * Into whose fields a path may lead. If the policy lets all models be read, these are all but those that it must name
 * to read them, because they hold credentials.
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

/** As for a call of the method. */
export function allowsMethod(rules: readonly ModelRule[], model: string, method: string): boolean {
  const isNamed = rules.some(({ pattern, methods }) => pattern === model && methods.has(method));
  if (isNamed || findSensitivity(model, method) !== null) return isNamed;
  return rules.some(({ matches, holdsFor }) => matches(model) && holdsFor(model, method));
}
