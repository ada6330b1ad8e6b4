/** Methods that exist in every version from 14, and that callers name often, as data. */

/** The methods that callers can use on every model, and the best known methods of this model. */
export function listWellKnownMethods(model: string): readonly string[] {
  return [...METHODS, ...(METHODS_OF_MODEL.get(model) ?? [])];
}

const METHODS = [
  'read',
  'search',
  'search_read',
  'search_count',
  'name_search',
  'read_group',
  'fields_get',
  'create',
  'write',
  'unlink',
  'copy',
  'default_get',
  'name_create',
  'load',
  'export_data',
  'action_archive',
  'action_unarchive',
];

const METHODS_OF_MODEL: ReadonlyMap<string, readonly string[]> = new Map([
  ['res.partner', ['message_post']],
  ['sale.order', ['action_confirm', 'action_cancel', 'action_draft', 'message_post']],
  ['purchase.order', ['button_confirm', 'button_cancel', 'button_draft', 'message_post']],
  ['account.move', ['action_post', 'button_draft', 'button_cancel', 'message_post']],
  ['crm.lead', ['action_set_won', 'action_set_lost', 'message_post']],
  ['stock.picking', ['action_confirm', 'action_assign', 'action_cancel', 'button_validate', 'message_post']],
  ['project.task', ['message_post']],
]);
