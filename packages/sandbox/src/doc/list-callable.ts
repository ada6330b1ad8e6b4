/**
 * The methods that the documentation lists: neither private nor deprecated, in alphabetical order
 * (docs/odoo-facts.md#doc-page).
 */
import type { Environment, Model } from '../orm/model.ts';

export function listCallable({ personality }: Environment, model: Model): readonly string[] {
  const { privateMethods, deprecatedMethods } = personality;
  return [...model.methods.keys()]
    .filter((name) => !name.startsWith('_') && !privateMethods.has(name) && !deprecatedMethods.has(name))
    .sort();
}
