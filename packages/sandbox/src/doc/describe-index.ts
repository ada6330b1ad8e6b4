/**
 * Renders the index of /doc-bearer: every model with the names of its fields and callable methods
 * (docs/odoo-facts.md#doc-index).
 */
import type { JsonObject } from '../json/value.ts';
import type { Environment } from '../orm/model.ts';
import { listCallable } from './list-callable.ts';
import { modules } from './locate-method.ts';

export function describeIndex(environment: Environment): JsonObject {
  const models = [...environment.models.values()].sort((a, b) => (a.description < b.description ? -1 : 1));
  return {
    modules,
    models: models.map((model) => ({
      model: model.name,
      name: model.description,
      fields: Object.fromEntries(
        [...model.fields.values()]
          .sort((a, b) => (a.name < b.name ? -1 : 1))
          .map(({ name, string }) => [name, { string }]),
      ),
      methods: listCallable(environment, model),
    })),
  };
}
