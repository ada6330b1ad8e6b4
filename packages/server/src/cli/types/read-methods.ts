/** Finds the methods that the buttons of a model's form call. */
import { isObject } from '@erp-proxy/json';
import { type Ask, Refusal } from './ask.ts';

/** The method that describes a view: from Odoo 16 on, and before. */
const VIEW_METHODS = ['get_view', 'fields_view_get'];
/** Matches tags. Odoo escapes `>` in attributes. */
const TAG = /<(\/?)(field|button)\b([^>]*?)(\/?)>/g;
const CALLS_METHOD = /\btype="object"/;
const NAME = /\bname="([a-z]\w*)"/i;

/** Sorted names. Empty if the model has no form, or the user may not see it. */
export async function readMethods(ask: Ask, model: string): Promise<readonly string[]> {
  for (const method of VIEW_METHODS) {
    try {
      const view = await ask(model, method, [], { view_type: 'form' });
      const arch = isObject(view) && typeof view['arch'] === 'string' ? view['arch'] : '';
      return [...new Set(listButtons(arch))].sort();
    } catch (error) {
      // Rethrown, because the types must not depend on an error that can pass.
      if (!(error instanceof Refusal) || error.isPassing) throw error;
    }
  }
  return [];
}

/** The methods of the form's own buttons. Buttons within a field belong to views of related records. */
function listButtons(arch: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [, end, tag, attributes = '', isEmpty] of arch.matchAll(TAG)) {
    if (tag === 'field' && isEmpty === '') depth += end === '' ? 1 : -1;
    const name = tag === 'button' && CALLS_METHOD.test(attributes) ? NAME.exec(attributes)?.[1] : undefined;
    if (depth === 0 && name !== undefined) names.push(name);
  }
  return names;
}
