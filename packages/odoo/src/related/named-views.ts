/**
 * Finds the views that a call names. Methods that describe the views of a model return any view by its id or its
 * external id, also one of another model (`_get_view` in ir_ui_view.py of Odoo 16 to 19, models.py of 14 and 15).
 */
import { isEmptyArray, type JsonSpan, readElements, readInteger, readMembers } from '@erp-proxy/json';
import { type Arguments, findArgument, isLeftOut } from '../arguments.ts';

/** The model of views. */
export const VIEWS = 'ir.ui.view';

/** By method, the argument at the first position: a list of pairs of an id and a type, or an id. */
const VIEW_ARGUMENTS: ReadonlyMap<string, { name: string; form: 'pairs' | 'id' }> = new Map([
  ['get_views', { name: 'views', form: 'pairs' }],
  ['load_views', { name: 'views', form: 'pairs' }],
  ['get_view', { name: 'view_id', form: 'id' }],
  ['fields_view_get', { name: 'view_id', form: 'id' }],
]);
/** The end of the members of a context that give the external id of the view for a type: `form_view_ref`. */
const VIEW_REFERENCE = '_view_ref';
const CONTEXT_MEMBERS_MAX = 1000;

/** What names a view, worded as the beginning of a sentence; null: nothing does. */
export function findNamedView(method: string, call: Arguments): string | null {
  const argument = VIEW_ARGUMENTS.get(method);
  if (argument === undefined) return null;
  const { bytes, named } = call;
  const { name, form } = argument;
  const namesView = (value: JsonSpan) => (form === 'id' ? isId(bytes, value) : hasId(bytes, value));
  if (findArgument(call, 0, name).some(namesView)) return `An id in \`${name}\``;
  const isReferring = named.some((each) => each.name === 'context' && refersToView(bytes, each.value));
  return isReferring ? `A member \`*${VIEW_REFERENCE}\` of the context` : null;
}

function hasId(bytes: Uint8Array, views: JsonSpan): boolean {
  if (views.kind !== 'array') return !isLeftOut(views);
  let found = false;
  readElements(bytes, views, (pair) => {
    found = namesInPair(bytes, pair);
    return !found;
  });
  return found;
}

function namesInPair(bytes: Uint8Array, pair: JsonSpan): boolean {
  if (pair.kind !== 'array') return true;
  let found = false;
  readElements(bytes, pair, (id) => {
    found = isId(bytes, id);
    return false;
  });
  return found;
}

/** As in Odoo, 0, null and false stand for the default view. */
function isId(bytes: Uint8Array, value: JsonSpan): boolean {
  return !isLeftOut(value) && !(value.kind === 'number' && readInteger(bytes, value) === 0);
}

/** Python converts a list of pairs into an object. */
function refersToView(bytes: Uint8Array, context: JsonSpan): boolean {
  if (context.kind === 'array') return !isEmptyArray(bytes, context);
  if (context.kind !== 'object') return false;
  const members = readMembers(bytes, context, CONTEXT_MEMBERS_MAX);
  return (
    members.length === CONTEXT_MEMBERS_MAX ||
    members.some(({ name, value }) => name.endsWith(VIEW_REFERENCE) && !isLeftOut(value))
  );
}
