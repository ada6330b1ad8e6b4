/** Reads the buttons of a dialog from its form. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import { isObject } from '@erp-proxy/json';
import { mayCall } from '@erp-proxy/policy/abilities';
import type { Session } from './session.ts';
import { cleanText, stripTags } from './show.ts';
import type { UnknownDialog } from './show-action.ts';
import { ToolError } from './tool-error.ts';

const BUTTONS_MAX = 8;
const LABEL_LENGTH_MAX = 40;
const ARCH_LENGTH_MAX = 256 * 1024;
/** The method that reads views: from Odoo 16 on, and before. Both have the same arguments. */
const METHODS = ['get_views', 'load_views'];

/** Names of buttons with labels, such as `process (“Apply”)`. Empty if the key or the user may not read the form. */
export async function listButtons(
  session: Session,
  instance: InstanceRecord,
  { model, viewId }: UnknownDialog,
): Promise<string[]> {
  for (const method of METHODS) {
    if (!mayCall(session.policy, model, method)) continue;
    try {
      return readButtons(
        findArch(await session.call(instance, model, method, [[[viewId ?? false, 'form']]])),
      );
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      if (error.type !== 'method_not_found') return [];
    }
  }
  return [];
}

function findArch(answer: unknown): string {
  const views = isObject(answer) ? (answer['views'] ?? answer['fields_views']) : undefined;
  const form = isObject(views) ? views['form'] : undefined;
  const arch = isObject(form) ? form['arch'] : undefined;
  return typeof arch === 'string' ? arch.slice(0, ARCH_LENGTH_MAX) : '';
}

/** Reads the buttons that call a method. Buttons that only close the dialog call none. */
export function readButtons(arch: string): string[] {
  const buttons = new Map<string, string>();
  for (const [, attributes = ''] of arch.matchAll(/<button\b([^<>]*)>/g)) {
    const name = readAttribute(attributes, 'name');
    if (readAttribute(attributes, 'type') !== 'object' || !/^[A-Za-z]\w{0,127}$/.test(name)) continue;
    const label = cleanText(stripTags(readAttribute(attributes, 'string')))
      .replace(/\s+/g, ' ')
      .slice(0, LABEL_LENGTH_MAX);
    if (buttons.size < BUTTONS_MAX) buttons.set(name, label === '' ? name : `${name} (“${label}”)`);
  }
  return [...buttons.values()];
}

function readAttribute(attributes: string, name: string): string {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
}
