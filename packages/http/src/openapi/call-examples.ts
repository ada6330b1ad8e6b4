/**
 * Examples of calls for the OpenAPI document: the request, and the answer of Odoo 18 with the data of the sandbox.
 * packages/server/test/openapi/examples.test.ts runs each of them.
 */
import type { ExecuteAnswer, ExecuteCall, Json } from '@erp-proxy/contract';

/** A body and its answer. Both have the same name in the document. */
export interface CallExample {
  name: string;
  summary: string;
  body: object;
  answer: object;
}

const erp_instance = { name: 'prod' };
const COMPANIES: Json = [['is_company', '=', true]];

export const EXECUTE_EXAMPLES: readonly CallExample[] = [
  succeed('search', 'Find the ids of records.', {
    params: [COMPANIES],
    keyword: { order: 'name', limit: 3 },
    result: [15, 16, 19],
  }),
  succeed('search_count', 'Count records.', { params: [COMPANIES], result: 13 }),
  succeed('read', 'Read fields of records by their ids.', {
    params: [[9, 10]],
    keyword: { fields: ['name', 'country_id'] },
    result: [
      { id: 9, name: 'Wood Corner', country_id: [233, 'United States'] },
      { id: 10, name: 'Deco Addict', country_id: [233, 'United States'] },
    ],
  }),
  succeed('search_read', 'Find records and read their fields.', {
    params: [COMPANIES],
    keyword: { fields: ['name', 'email'], order: 'name', limit: 2 },
    result: [
      { id: 15, name: 'Azure Interior', email: 'info@azure.example.com' },
      { id: 16, name: 'Brasserie Zoë', email: 'info@zoe.example.com' },
    ],
  }),
  succeed('read_group', 'Count or sum records by a field.', {
    params: [COMPANIES, ['country_id'], ['country_id']],
    keyword: { limit: 1 },
    result: [
      {
        country_id: [20, 'Belgium'],
        country_id_count: 2,
        __domain: ['&', ['is_company', '=', true], ['country_id', '=', 20]],
      },
    ],
  }),
  succeed('name_search', 'Find records by a part of their name.', {
    keyword: { name: 'deco', limit: 2 },
    result: [
      [10, 'Deco Addict'],
      [23, 'Deco Addict, Addison Olson'],
    ],
  }),
  succeed('fields_get', 'Describe the fields of a model.', {
    params: [['name', 'country_id']],
    keyword: { attributes: ['type', 'string', 'relation'] },
    result: {
      name: { type: 'char', string: 'Name' },
      country_id: { type: 'many2one', string: 'Country', relation: 'res.country' },
    },
  }),
  succeed('default_get', 'Read the default values of fields.', {
    params: [['lang', 'email']],
    result: { lang: 'en_US' },
  }),
  succeed('create', 'Create a record; the result is its id.', {
    params: [{ name: 'Ada Lovelace', email: 'ada@example.com' }],
    result: 72,
  }),
  succeed('write', 'Change records.', { params: [[9], { city: 'Ghent' }], result: true }),
  succeed('copy', 'Copy a record; since Odoo 18 the result is a list of ids.', {
    params: [[9]],
    result: [72],
  }),
  succeed('unlink', 'Delete records.', {
    model: 'res.partner.category',
    params: [[1]],
    result: true,
  }),
  succeed('call_method', 'Run any other public method, named by `fn_name`.', {
    model: 'sale.order',
    fn_name: 'action_confirm',
    params: [[3]],
    result: true,
  }),
  succeed('ids', 'Name the records in `keyword.ids` in place of `params`.', {
    action: 'read',
    keyword: { ids: [9], fields: ['name'] },
    result: [{ id: 9, name: 'Wood Corner' }],
  }),
  succeed('own_address', 'Send address and credentials in place of the name of a stored instance.', {
    action: 'search_count',
    params: [[]],
    instance: { url: 'https://odoo.example.com', db: 'prod', user_id: 2, api_key: '<Odoo key>' },
    result: 38,
  }),
  {
    name: 'batch',
    summary: 'Send several calls at once. The answers have their order, and one can fail alone.',
    body: [
      makeCall('search_count', { id: 'companies', params: [COMPANIES] }),
      makeCall('read', { id: 'missing', model: 'res.partnr', params: [[9]] }),
    ],
    answer: [
      { jsonrpc: '2.0', id: 'companies', result: 13 },
      { jsonrpc: '2.0', id: 'missing', error: describeMissingModel('res.partnr') },
    ],
  },
  {
    name: 'failed',
    summary: "Odoo's own error: here, the model does not exist.",
    body: makeCall('read', { model: 'res.partnr', params: [[9]] }),
    answer: { jsonrpc: '2.0', id: 1, error: describeMissingModel('res.partnr') } satisfies ExecuteAnswer,
  },
];

export const VERSION_EXAMPLES: readonly CallExample[] = [
  {
    name: 'version',
    summary: 'Ask for the version of a server.',
    body: { id: 1, url: 'https://odoo.example.com' },
    answer: {
      jsonrpc: '2.0',
      id: 1,
      result: {
        server_version: '18.0',
        server_version_info: [18, 0, 0, 'final', 0, ''],
        server_serie: '18.0',
        protocol_version: 1,
      },
    },
  },
];

interface Parts {
  id?: string;
  action?: string;
  model?: string;
  fn_name?: string;
  params?: Json[];
  keyword?: NonNullable<ExecuteCall['keyword']>;
  instance?: ExecuteCall['erp_instance'];
}

/** The example is named after its action, unless `action` names another one. */
function succeed(
  name: string,
  summary: string,
  { result, action = name, ...parts }: Parts & { result: Json },
): CallExample {
  const answer: ExecuteAnswer = { jsonrpc: '2.0', id: 1, result };
  return { name, summary, body: makeCall(action, parts), answer };
}

function makeCall(
  action: string,
  { id, model = 'res.partner', fn_name, params, keyword, instance = erp_instance }: Parts,
): ExecuteCall {
  return {
    id: id ?? 1,
    action,
    model_id: model,
    ...(fn_name === undefined ? {} : { fn_name }),
    ...(params === undefined ? {} : { params }),
    ...(keyword === undefined ? {} : { keyword }),
    erp_instance: instance,
  };
}

function describeMissingModel(model: string) {
  const message = `Object ${model} doesn't exist`;
  return {
    code: 200,
    message,
    data: {
      type: 'model_not_found' as const,
      retryable: false,
      name: 'odoo.exceptions.UserError',
      message,
      arguments: [message],
      context: {},
      status: 404,
      nearest: ['res.partner', 'res.partner.category'],
    },
  };
}
