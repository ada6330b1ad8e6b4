/**
 * The operations of the matrix: every recorded call of Odoo 19, with ids of the sandbox, and forms and mistakes without
 * a recording. Arguments are JSON text, because their bytes matter.
 */
import { recordedExecuteKw } from '../../../odoo/test/recorded-protocols.ts';

export interface Operation {
  name: string;
  model: string;
  action: string;
  /** JSON text of the positional arguments. */
  params: string;
  /** JSON text of the named arguments; default `{}`. */
  keyword?: string;
  user?: 'admin' | 'demo';
  /** Changed members of `erp_instance`, as JSON text. */
  instance?: Record<string, string>;
}

/** Operations whose identifiers the proxy refuses, so they never reach a server. */
const REFUSED_HERE = /^(error-private-method|error-empty-db|error-empty-key|error-null-key|error-uid-)/;
/** Operations with other credentials, and duplicates of recordings. They have their own rows below. */
const OWN_ROWS =
  /^(error-wrong-(key|db)|error-db-not-odoo|no-lockout|password-instead|threaded-|recovers-|execute-kw-)/;

const PARTNERS = new Map([
  ['98', '71'],
  ['100', '31'],
]);

const recorded: readonly Operation[] = recordedExecuteKw
  .filter(({ name }) => !REFUSED_HERE.test(name) && !OWN_ROWS.test(name))
  .map(({ name, model, method, params, keyword }) => ({
    name: `recorded: ${name}`,
    model,
    action: method,
    params: replaceRecords(name, model, Buffer.from(params).toString()),
    keyword: Buffer.from(keyword)
      .toString()
      .replace('"allowed_company_ids":[3]', '"allowed_company_ids":[2]'),
    user: name.startsWith('error-access-') ? 'demo' : 'admin',
  }));

/** Maps recorded ids of records that the recorder created to records of the sandbox. */
function replaceRecords(name: string, model: string, params: string): string {
  if (name.startsWith('error-unique-violation')) return params.replace(/Unique [\d. ]+/, 'Product');
  if (model === 'res.partner') {
    const ids = /^\[(\[\d+(,\d+)*\]|\d+)/.exec(params)?.[0];
    const replaced = ids?.replace(
      /\b(7[2-9]|8[01]|98|100)\b/g,
      (id) => PARTNERS.get(id) ?? String(Number(id) - 51),
    );
    return ids === undefined ? params : params.replace(ids, replaced!);
  }
  if (model === 'sale.order' && params.startsWith('[[23]')) {
    return params.replace('[[23]', /twice|confirmed/.test(name) ? '[[4]' : '[[1]');
  }
  return params;
}

const partner = (name: string, action: string, params: string, keyword = '{}'): Operation => ({
  name,
  model: 'res.partner',
  action,
  params,
  keyword,
});
const order = (name: string, action: string, params: string, keyword = '{}'): Operation => ({
  ...partner(name, action, params, keyword),
  model: 'sale.order',
});

const READ_ARGUMENTS = '[[3,1],["name","email"]]';

const forms: readonly Operation[] = [
  // Reads with ids in all forms.
  partner('read: one id that is no list', 'read', '[3,["name"]]'),
  partner('read: ids as text', 'read', '["3",["name"]]'),
  partner('read: null for ids', 'read', '[null,["name"]]'),
  partner('read: false for ids', 'read', '[false,["name"]]'),
  partner('read: a float for ids', 'read', '[3.0,["name"]]'),
  partner('read: an object for ids', 'read', '[{"id":3},["name"]]'),
  partner('read: ids in a list in a list', 'read', '[[[3]],["name"]]'),
  partner('read: a negative id', 'read', '[[-1],["name"]]'),
  partner('read: ids written with white space', 'read', ' [ [ 3 ,\n1 ] , [ "name" ] ] '),
  partner('read: the limit of the contract', 'read', '[[3,1,9,10],["name"]]', '{"limit":2}'),
  partner('read: all by position', 'read', '[[3],["name","country_id"],""]'),
  partner('read: too many by position', 'read', '[[3],["name"],"",1]'),
  partner('read: fields twice', 'read', '[[3],["name"]]', '{"fields":["email"]}'),
  partner('read: ids by position and by name', 'read', '[[3]]', '{"ids":[1],"fields":["name"]}'),
  partner('read: self by name', 'read', '[[3]]', '{"self":[1],"fields":["name"]}'),
  partner('read: an escaped name', 'read', '[[3]]', '{"fi\\u0065lds":["name"]}'),
  partner('read: a name that is no text of Python', 'read', '[[3]]', '{"":1}'),
  partner('read: a name of the prototype', 'read', '[[3]]', '{"__proto__":1}'),
  partner('read: args and kwargs by name', 'read', '[]', '{"args":[[3]],"kwargs":{}}'),
  partner('read: __model__ by name', 'read', '[[3],["name"]]', '{"__model__":"res.users"}'),
  partner('read: context false', 'read', '[[3],["name"]]', '{"context":false}'),
  partner('read: context an empty list', 'read', '[[3],["name"]]', '{"context":[]}'),
  partner('read: context with a language', 'read', '[[3],["name"]]', '{"context":{"lang":"en_US"}}'),
  partner('read: context with an unknown language', 'read', '[[3],["name"]]', '{"context":{"lang":"xx_XX"}}'),
  partner('read: context with bin_size', 'read', '[[3],["image_128"]]', '{"context":{"bin_size":true}}'),
  partner('read: company of the user', 'read', '[[71],["name"]]', '{"context":{"allowed_company_ids":[2]}}'),
  partner('read: company of nobody', 'search', '[[]]', '{"context":{"allowed_company_ids":[7]}}'),
  { ...partner('read: a user without rights', 'read', READ_ARGUMENTS), user: 'demo' },
  { ...partner('read: a field of a group', 'read', '[[3],["signup_type"]]'), user: 'demo' },
  { ...partner('read: a record of another company', 'read', '[[71],["name"]]'), user: 'demo' },

  // Methods of the model, which take no ids.
  partner('search: domain by name', 'search', '[]', '{"domain":[["id","<",4]],"order":"id desc"}'),
  partner('search: domain by its name up to 15', 'search', '[]', '{"args":[["id","<",4]],"order":"id"}'),
  partner('search: domain by name and params null', 'search', 'null', '{"domain":[["id","=",3]]}'),
  partner('search: domain by both names', 'search', '[]', '{"args":[],"domain":[]}'),
  partner('search: domain by position and by name', 'search', '[[]]', '{"domain":[]}'),
  partner('search: domain missing', 'search', '[]'),
  partner('search: domain null', 'search', '[null]'),
  partner('search: too many by position', 'search', '[[],0,1,"id",5]'),
  partner('search: an unknown name', 'search', '[[]]', '{"where":[]}'),
  partner('search: ids of a method that takes none', 'search', '[[]]', '{"ids":[3]}'),
  partner(
    'search: an operator that any takes',
    'search',
    '[[["child_ids","any",[["name","ilike","a"]]]]]',
    '{"limit":3,"order":"id"}',
  ),
  partner('search: limit 0', 'search', '[[["id","<",4]]]', '{"limit":0}'),
  partner('search: a date of no calendar', 'search', '[[["create_date",">","2031-13-45"]]]'),
  partner('search_count: by position', 'search_count', '[[["is_company","=",true]],3]'),
  partner('search_count: by name', 'search_count', '[]', '{"domain":[["id","<",4]]}'),
  partner('search_count: by its name up to 15', 'search_count', '[]', '{"args":[["id","<",4]]}'),
  partner('search_count: domain missing', 'search_count', '[]'),
  partner('search_read: everything by position', 'search_read', '[[["id","<",12]],["name"],1,2,"id desc"]'),
  partner(
    'search_read: load through kwargs',
    'search_read',
    '[[["id","=",3]],["country_id"]]',
    '{"load":""}',
  ),
  partner('search_read: an unknown argument through kwargs', 'search_read', '[[["id","=",3]]]', '{"nope":1}'),
  partner(
    'search_read: nothing found and an unknown argument',
    'search_read',
    '[[["id","=",-1]]]',
    '{"nope":1}',
  ),
  partner('search_read: no arguments at all', 'search_read', '[]', '{"limit":1,"fields":["name"]}'),
  partner('fields_get: by position', 'fields_get', '[["name"],["type","string"]]'),
  partner('fields_get: an unknown field', 'fields_get', '[["nope"]]'),
  partner('default_get: by name', 'default_get', '[]', '{"fields":["lang","active"]}'),
  partner('default_get: by the name of 18', 'default_get', '[]', '{"fields_list":["lang"]}'),
  partner('default_get: nothing', 'default_get', '[]'),
  partner('name_search: all by position', 'name_search', '["Azure",[["is_company","=",true]],"ilike",2]'),
  partner('name_create', 'name_create', '["Named"]'),
  partner('name_create: nothing', 'name_create', '[]'),
  partner('has_access: of records', 'has_access', '[[3],"write"]'),
  partner('has_access: by name', 'has_access', '[[3]]', '{"operation":"read"}'),
  partner('has_access: without ids', 'has_access', '[]', '{"operation":"read"}'),
  partner('has_access: an unknown operation', 'has_access', '[[3],"fly"]'),
  partner('check_access_rights: by position', 'check_access_rights', '["write",false]'),
  { ...order('check_access_rights: refused', 'check_access_rights', '["read",true]'), user: 'demo' },
  partner('check_access_rule', 'check_access_rule', '[[3],"read"]'),
  partner(
    'read_group: by name',
    'read_group',
    '[]',
    '{"domain":[],"fields":["id:count"],"groupby":["country_id"]}',
  ),
  partner('formatted_read_group: by position', 'formatted_read_group', '[[],["country_id"],["__count"]]'),
  partner('formatted_read_group: an unknown group', 'formatted_read_group', '[[],["nope"],["__count"]]'),
  partner('web_search_read', 'web_search_read', '[[["id","<",10]],{"name":{}}]', '{"order":"id","limit":2}'),
  partner('web_search_read: specification missing', 'web_search_read', '[[]]'),
  partner('web_read: by position', 'web_read', '[[3],{"name":{}}]'),
  partner('web_save', 'web_save', '[[21],{"name":"Saved"},{"name":{}}]'),
  partner('onchange', 'onchange', '[[],{},[],{"name":{}}]'),
  partner('get_views: by position', 'get_views', '[[[false,"list"]],{}]'),
  partner('get_view', 'get_view', '[]', '{"view_type":"form"}'),
  partner('export_data: an unknown field', 'export_data', '[[3],["nope"]]'),
  partner('load', 'load', '[["name","email"],[["Loaded","loaded@example.com"]]]'),
  partner('get_metadata', 'get_metadata', '[[3]]'),
  partner('get_metadata: without ids', 'get_metadata', '[]'),

  // Writes.
  partner(
    'create: one, numbers as they were written',
    'create',
    '[{"name":"N","credit_limit":1.0,"partner_latitude":1e2}]',
  ),
  partner('create: a list of none', 'create', '[[]]'),
  partner('create: a list of two', 'create', '[[{"name":"A"},{"name":"B"}]]'),
  partner('create: one in a list', 'create', '[[{"name":"A"}]]'),
  partner('create: null', 'create', '[null]'),
  partner('create: a number', 'create', '[7]'),
  partner('create: nothing', 'create', '[]'),
  partner('create: vals_list by name', 'create', '[]', '{"vals_list":{"name":"A"}}'),
  partner('create: by the name of 18', 'create', '[]', '{"values":{"name":"A"}}'),
  partner('create: by position and by name', 'create', '[{"name":"A"}]', '{"vals_list":{"name":"B"}}'),
  partner('create: too many', 'create', '[{"name":"A"},{"name":"B"}]'),
  partner('create: an unknown argument', 'create', '[{"name":"A"}]', '{"nope":1}'),
  partner('create: with a context', 'create', '[{"name":"A"}]', '{"context":{"lang":"en_US"}}'),
  partner('create: two within the limit', 'create', '[[{"name":"A"},{"name":"B"}]]', '{"limit":2}'),
  partner('create: more than the limit', 'create', '[[{"name":"A"},{"name":"B"}]]', '{"limit":1}'),
  { ...partner('create: a user without rights', 'create', '[{"name":"A"}]'), user: 'demo' },
  partner('create: beyond 2^53', 'create', '[{"name":"A","color":9007199254740993}]'),
  partner('write: vals by name', 'write', '[[21]]', '{"vals":{"name":"W"}}'),
  partner('write: one id', 'write', '[21,{"name":"W"}]'),
  partner('write: ids forgotten', 'write', '[]', '{"vals":{"name":"W"}}'),
  partner('write: vals in place of ids', 'write', '[{"name":"W"}]'),
  partner('write: vals forgotten', 'write', '[[21]]'),
  partner('write: no ids', 'write', '[[],{"name":"W"}]'),
  partner('write: an unknown field', 'write', '[[21],{"nope":1}]'),
  partner('write: a bad selection', 'write', '[[21],{"type":"nope"}]'),
  partner('write: one of two is missing', 'write', '[[21,99999],{"name":"W"}]'),
  partner('write: commands', 'write', '[[21],{"category_id":[[6,0,[1,2]]]}]'),
  partner('write: too many', 'write', '[[21],{"name":"W"},{}]'),
  { ...partner('write: a user without rights', 'write', '[[21],{"name":"W"}]'), user: 'demo' },
  partner('unlink: two', 'unlink', '[[21,22]]'),
  partner('unlink: ids forgotten', 'unlink', '[]'),
  partner('unlink: ids by name', 'unlink', '[]', '{"ids":[21]}'),
  partner('unlink: within the limit', 'unlink', '[[21]]', '{"limit":1}'),
  partner('unlink: more than the limit', 'unlink', '[[21,22]]', '{"limit":1}'),
  partner('copy: default by name', 'copy', '[[21]]', '{"default":{"name":"C"}}'),
  partner('copy: a missing record', 'copy', '[[99999]]'),
  partner('action_archive: none', 'action_archive', '[[]]'),
  partner('action_archive and back', 'action_unarchive', '[[21]]'),
  partner('action_archive: an argument too many', 'action_archive', '[[21],1]'),
  partner('toggle_active', 'toggle_active', '[[21]]'),
  partner('message_post: body by name', 'message_post', '[[21]]', '{"body":"hello"}'),
  partner('message_post: body by position', 'message_post', '[[21],"hello"]'),
  partner('message_post: an unknown argument', 'message_post', '[[21]]', '{"body":"hello","nope":1}'),
  partner('message_post: without ids', 'message_post', '[]', '{"body":"hello"}'),
  order('message_post: of an order', 'message_post', '[[1]]', '{"body":"hello"}'),
  {
    ...partner('a constraint that is checked', 'create', '[{"name":"2031-02-05","currency_id":1,"rate":-1}]'),
    model: 'res.currency.rate',
  },
  {
    ...partner(
      'a constraint that is unique',
      'create',
      '[{"name":"2031-02-03","currency_id":1,"rate":1,"company_id":1}]',
    ),
    model: 'res.currency.rate',
  },

  // Business methods, and methods that only the doc page knows.
  order('action_confirm: a draft', 'action_confirm', '[[1]]'),
  order('action_confirm: two', 'action_confirm', '[[1,2]]'),
  order('action_confirm: one id', 'action_confirm', '[1]'),
  order('action_confirm: confirmed already', 'action_confirm', '[[4]]'),
  order('action_confirm: none', 'action_confirm', '[[]]'),
  order('action_confirm: ids forgotten', 'action_confirm', '[]'),
  order('action_confirm: an argument too many', 'action_confirm', '[[1],true]'),
  order('action_confirm: an unknown argument', 'action_confirm', '[[1]]', '{"nope":1}'),
  { ...order('action_confirm: a user without rights', 'action_confirm', '[[1]]'), user: 'demo' },
  order('action_cancel', 'action_cancel', '[[1]]'),
  order('action_quotation_send: two at once', 'action_quotation_send', '[[1,2]]'),
  partner('find_or_create: found', 'find_or_create', '["info@wood.example.com"]'),
  partner('find_or_create: made', 'find_or_create', '["new@example.com",true]'),
  partner('find_or_create: by name', 'find_or_create', '[]', '{"email":"new@example.com"}'),
  partner('find_or_create: no mail', 'find_or_create', '[""]'),
  partner('find_or_create: nothing', 'find_or_create', '[]'),
  partner('find_or_create: twice', 'find_or_create', '["a@example.com"]', '{"email":"b@example.com"}'),
  {
    ...partner(
      'find_or_create: who may not read the doc page',
      'find_or_create',
      '["info@wood.example.com"]',
    ),
    user: 'demo',
  },
  { ...partner('context_get', 'context_get', '[]'), model: 'res.users' },
  { ...partner('context_get: with ids', 'context_get', '[[2]]'), model: 'res.users' },
  { ...partner('has_group', 'has_group', '[[2],"base.group_user"]'), model: 'res.users' },
  { ...partner('set_param: refused', 'set_param', '["x","y"]'), model: 'ir.config_parameter', user: 'demo' },
  { ...partner('set_param', 'set_param', '["x","y"]'), model: 'ir.config_parameter' },
  { ...partner('get_param', 'get_param', '["x"]'), model: 'ir.config_parameter' },

  // Models, methods and fields that do not exist.
  partner('a method that there is not', 'fly', '[[3]]'),
  partner('a method that there is not, all by name', 'fly', '[]', '{"ids":[3]}'),
  partner('a field in place of a method', 'name', '[[3]]'),
  partner('a private method of 19', 'search_fetch', '[[],["name"]]'),
  partner('a private method with a mistake', 'search_fetch', '[]'),
  partner('a private method of records', 'sudo', '[[3]]'),
  { ...partner('a model that there is not', 'read', '[[1]]'), model: 'res.nope' },
  { ...partner('a model that there is not, and a method of its own', 'fly', '[[1]]'), model: 'res.nope' },
  { ...partner('a model that there is not, and a mistake', 'read', '[]'), model: 'res.nope' },
  { ...partner('a method that there is not, of a model that there is not', 'fly', '[]'), model: 'res..nope' },

  // Credentials.
  { ...partner('a wrong key', 'read', '[[3],["name"]]'), instance: { api_key: `"${'f'.repeat(40)}"` } },
  { ...partner('a wrong key that is none', 'read', '[[3],["name"]]'), instance: { api_key: '"bad-again"' } },
  {
    ...partner('a wrong key and a wrong model', 'read', '[[3]]'),
    model: 'res.nope',
    instance: { api_key: `"${'f'.repeat(40)}"` },
  },
  { ...partner('a wrong key and a mistake', 'read', '[]'), instance: { api_key: `"${'f'.repeat(40)}"` } },
  {
    ...partner('a wrong key and a write', 'create', '[{"name":"A"}]'),
    instance: { api_key: `"${'f'.repeat(40)}"` },
  },
  {
    ...partner('the password in place of the key', 'read', '[[3],["name"]]'),
    instance: { api_key: '"admin"' },
  },
  { ...partner('the key of another user', 'read', '[[3],["name"]]'), instance: { user_id: '8' } },
  {
    ...partner('the key of another user, and a write', 'create', '[{"name":"A"}]'),
    instance: { user_id: '8' },
  },
  { ...partner('the key of another user, and a mistake', 'write', '[]'), instance: { user_id: '8' } },
  { ...partner('a user that there is not', 'read', '[[3],["name"]]'), instance: { user_id: '999' } },
  { ...partner('a database that there is not', 'read', '[[3],["name"]]'), instance: { db: '"nope_db"' } },
  {
    ...partner('a database and a key that there are not', 'read', '[[3],["name"]]'),
    instance: { db: '"nope_db"', api_key: '"x"' },
  },
  { ...partner('a database that is not of Odoo', 'read', '[[3]]'), instance: { db: '"x_not_odoo"' } },
];

export const operations: readonly Operation[] = [...recorded, ...forms];
