/** Says which apps of Odoo the server lacks, by well-known models that it does not have. Pure. */
import { KNOWN_MODELS } from './known-models.ts';

const NAMED_MAX = 5;

/**
 * A sentence about the apps to which the models belong; null if no app is known. The caller has found that the server
 * lacks the models, and that the policy lets the key know it.
 */
export function explainMissingApps(models: readonly string[]): string | null {
  const byApp = new Map<string, string>();
  for (const model of models) {
    const app = APPS.get(model);
    if (app !== undefined && !byApp.has(app)) byApp.set(app, model);
  }
  const named = [...byApp].slice(0, NAMED_MAX).map(([app, model]) => `${app} (${model})`);
  if (named.length === 0) return null;
  return named.length === 1
    ? `The app ${named[0]} is not installed on this server.`
    : `These apps are not installed on this server: ${named.join(', ')}.`;
}

const APPS = new Map(KNOWN_MODELS.flatMap(({ model, app }) => (app === undefined ? [] : [[model, app]])));
