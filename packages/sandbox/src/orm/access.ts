/**
 * Access control: which operations a model allows for the user's groups, and which records the record rules allow
 * (docs/odoo-facts.md#exception-names, docs/odoo-facts.md#faults-16).
 */

import { compileDomain } from './domain.ts';
import { accessError } from './fault.ts';
import type { Environment, Field, Model, Operation } from './model.ts';
import type { Row } from './row.ts';

export function checkAccess(
  environment: Environment,
  model: Model,
  operation: Operation,
  ids: readonly number[] = [],
): void {
  checkModelAccess(environment, model, operation);
  const allowed = filterByRule(environment, model, ids);
  if (allowed.length === ids.length) return;
  const user = `${environment.user['name']} (id=${environment.uid})`;
  throw environment.personality.texts.recordRule(model, operation, user);
}

export function mayAccess(environment: Environment, model: Model, operation: Operation): boolean {
  const groups = model.access?.[operation];
  return !groups || groups.some((group) => environment.hasGroup(group));
}

/** The names of the models that the user may read. */
export function listReadableModels(environment: Environment): string[] {
  const readable = [...environment.models.values()].filter((model) => mayAccess(environment, model, 'read'));
  return readable.map(({ name }) => name);
}

export function filterByRule(
  environment: Environment,
  model: Model,
  ids: readonly number[],
): readonly number[] {
  if (environment.isSuperuser || !model.rule || ids.length === 0) return ids;
  const holds = compileRule(environment, model);
  return ids.filter((id) => {
    const row = environment.store.get(model.name, id);
    return !row || holds(row);
  });
}

/** Returns a test of whether the record rules allow the user a row. */
export function compileRule(environment: Environment, model: Model): (row: Row) => boolean {
  if (environment.isSuperuser || !model.rule) return () => true;
  return compileDomain(environment.sudo(), model, model.rule(environment));
}

export function mayReadField(environment: Environment, field: Field): boolean {
  return !field.groups || environment.hasGroup(field.groups);
}

function checkModelAccess(environment: Environment, model: Model, operation: Operation): void {
  if (mayAccess(environment, model, operation)) return;
  const verb = { read: 'access', write: 'modify', create: 'create', unlink: 'delete' }[operation];
  const allowed = model.access?.[operation] ?? [];
  const names = Object.entries(environment.personality.groupNames)
    .filter(([group]) => allowed.includes(group))
    .map(([, name]) => `\t- ${name}`);
  const groups =
    names.length > 0
      ? `This operation is allowed for the following groups:\n${names.join('\n')}`
      : 'No group currently allows this operation.';
  throw accessError(
    `You are not allowed to ${verb} '${model.description}' (${model.name}) records.\n\n${groups}\n\nContact your administrator to request access if necessary.`,
  );
}
