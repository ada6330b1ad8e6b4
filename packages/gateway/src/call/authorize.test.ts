/** Calls as bytes, under policies: which calls are denied, and the bytes of those that are allowed. */
import type { Policy } from '@erp-proxy/contract';
import { compilePolicy } from '@erp-proxy/policy';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countReads } from '../../../json/test/counted-bytes.ts';
import { countCases } from '../../../server/test/random-cases.ts';
import { Denial } from '../terms/denial.ts';
import { OWN_DIALECT } from '../terms/dialect.ts';
import { authorizeCall, authorizeCaller, authorizeJson2Call, authorizeVersionQuestion } from './authorize.ts';
import { limitCall } from './limit.ts';
import { type Call, parseBody, parseCall } from './parse.ts';
import { type Json2Call, parseJson2Call } from './parse-json2.ts';

const EVERYWHERE: Policy = { instances: ['*'], origins: ['*'], models: { '*': ['*'] } };
const CALLER = { address: '198.51.100.1', header: () => undefined };

function readBody(body: string) {
  const parsed = parseBody(Buffer.from(body));
  if (parsed instanceof Denial) throw new Error(parsed.message);
  const [first] = parsed.calls;
  if (first === undefined) throw new Error('no call');
  return { bytes: parsed.bytes, first };
}

/** `rest` is the text of further members. */
function readCall(model: string, action: string, rest = '', instance = '{"name":"prod"}'): Call {
  const members = `"action":"${action}","model_id":"${model}","erp_instance":${instance}${rest && `,${rest}`}`;
  const { bytes, first } = readBody(`{${members}}`);
  const { call } = parseCall(bytes, first, OWN_DIALECT);
  if (call instanceof Denial) throw new Error(call.message);
  return call;
}

function readJson2Call(method: string, kwargs: string): Json2Call {
  const instance = '{"url":"https://erp.example.com","db":"prod","api_key":"k"}';
  const { bytes, first } = readBody(
    `{"model_id":"res.partner","method":"${method}","kwargs":${kwargs},"erp_instance":${instance}}`,
  );
  const { call } = parseJson2Call(bytes, first, OWN_DIALECT);
  if (call instanceof Denial) throw new Error(call.message);
  return call;
}

function authorize(call: Call, policy: Partial<Policy>): Call | Denial {
  return authorizeCall(call, { policy: compilePolicy({ ...EVERYWHERE, ...policy }) });
}

/** Returns the arguments for Odoo, or the rule that denied the call. */
function run(call: Call, policy: Partial<Policy>): { params: string; keyword: string } | string {
  const authorized = authorize(call, policy);
  if (authorized instanceof Denial) return authorized.more.rule ?? authorized.type;
  const limited = limitCall(authorized, OWN_DIALECT);
  if (limited instanceof Denial) return limited.type;
  return { params: Buffer.from(limited.params).toString(), keyword: Buffer.from(limited.keyword).toString() };
}

function runJson2(call: Json2Call, policy: Partial<Policy>): string | undefined {
  const authorized = authorizeJson2Call(call, { policy: compilePolicy({ ...EVERYWHERE, ...policy }) });
  if (authorized instanceof Denial) return authorized.more.rule;
  const { bytes, kwargs } = authorized;
  return kwargs.span ? Buffer.from(bytes.subarray(kwargs.span.start, kwargs.span.end)).toString() : '';
}

test('calls of a key without a policy are not changed', () => {
  const call = readCall('res.users', 'authenticate');
  expect(authorizeCall(call, { policy: null })).toBe(call);
  const json2Call = readJson2Call('authenticate', '{}');
  expect(authorizeJson2Call(json2Call, { policy: null })).toBe(json2Call);
  const question = ask('https://erp.example.com');
  expect(authorizeVersionQuestion(question, { policy: null })).toBe(question);
  expect(authorizeCaller({ policy: null }, CALLER)).toBeNull();
});

test('a denial names the rule', () => {
  const denial = authorize(readCall('res.partner', 'unlink'), { models: { 'res.partner': ['read'] } });
  expect(denial).toMatchObject({ type: 'policy_denied', more: { rule: 'models["res.partner"]' } });
});

test('denies a version question about a server that the policy does not name', () => {
  const policy = compilePolicy({ ...EVERYWHERE, origins: ['https://erp.example.com'] });
  const question = ask('https://erp.example.com');
  expect(authorizeVersionQuestion(question, { policy })).toBe(question);
  expect(authorizeVersionQuestion(ask('https://other.example.com'), { policy })).toMatchObject({
    more: { rule: 'origins' },
  });
});

test('denies a caller from an address that the policy does not name, and names the rule', () => {
  const policy = compilePolicy({ ...EVERYWHERE, cidrs: ['192.0.2.0/24'] });
  expect(authorizeCaller({ policy }, CALLER)).toMatchObject({
    type: 'policy_denied',
    more: { rule: 'cidrs' },
  });
  expect(authorizeCaller({ policy }, { ...CALLER, address: '192.0.2.1' })).toBeNull();
});

describe('the cost of the decision on a call', () => {
  const policy = compilePolicy({
    ...EVERYWHERE,
    models: { 'res.partner': ['web_read', 'read_group', 'write'] },
    companies: [1],
    limit_max: 5,
  });
  const names = Array.from(
    { length: 2000 },
    (_, index) => `"f${index}":{"fields":{"display_name":{}},"limit":5}`,
  );

  function check(call: Call) {
    const { bytes, reads } = countReads(Buffer.from(call.bytes).toString());
    const decided = authorizeCall({ ...call, bytes }, { policy });
    return { rule: decided instanceof Denial ? decided.more.rule : null, perByte: reads() / bytes.length };
  }

  test('is zero reads of the body if server, model or method are not allowed', () => {
    const rest = `"params":[[1],{${names}}]`;
    expect(check(readCall('res.users', 'web_read', rest))).toEqual({ rule: 'models', perByte: 0 });
    expect(check(readCall('res.partner', 'web_save', rest))).toEqual({
      rule: 'models["res.partner"]',
      perByte: 0,
    });
  });

  test.each([
    [
      'write',
      `"params":[[1],{${'"order_line":[[0,0,{"tax_id":[[6,0,[1]]],"name":"abc"}]],'.repeat(500)}"a":1}]`,
    ],
    ['web_read', `"params":[[1],{${names}}]`],
    ['web_read', `"params":[[1],{${'"a":{'.repeat(400)}${'}'.repeat(400)}}]`],
    ['read_group', `"params":[[],[${'"abc",'.repeat(900)}"d"],[],0,5]`],
  ])('is otherwise a few reads of each byte, as for parsing: %s', (method, rest) => {
    const { rule, perByte } = check(readCall('res.partner', method, rest));
    expect(rule).toBeNull();
    // One read skips the arguments, one for each of three rules searches them, and others skip lists and the new body.
    expect(perByte).toBeGreaterThan(1);
    expect(perByte).toBeLessThan(10);
  });
});

describe('the server', () => {
  const byUrl = (url: string) =>
    readCall('res.partner', 'read', '', `{"url":"${url}","db":"prod","user_id":2,"api_key":"k"}`);

  test('is the origin of the url, in any spelling', () => {
    const policy = { origins: ['https://erp.example.com'], dbs: ['prod'] };
    for (const url of [
      'https://erp.example.com',
      'HTTPS://ERP.example.com:443/odoo/',
      'https://erp%2Eexample.com',
    ])
      expect(run(byUrl(url), policy)).toBeTypeOf('object');
    for (const url of [
      'https://erp.example.com.evil.test',
      'https://erp.example.com:8443',
      'http://erp.example.com',
    ])
      expect(run(byUrl(url), policy)).toBe('origins');
  });

  test('is refused if the url is invalid, as without a policy', () => {
    expect(authorize(byUrl('https://erp.example.com@evil.test'), {})).toMatchObject({
      type: 'invalid_request',
      more: { path: 'erp_instance.url' },
    });
  });

  test('is allowed by name for a stored instance, and by origin for an address, never the other way round', () => {
    expect(run(readCall('res.partner', 'read'), { instances: ['test'] })).toBe('instances');
    expect(run(byUrl('https://erp.example.com'), { origins: ['https://other.example.com'] })).toBe('origins');
  });
});

describe('the policy decides on the method that runs', () => {
  test('for `call_method`, the one that `fn_name` names', () => {
    const policy = { models: { 'res.partner': ['read'] } };
    expect(run(readCall('res.partner', 'call_method', '"fn_name":"unlink"'), policy)).toBe(
      'models["res.partner"]',
    );
    expect(run(readCall('res.partner', 'call_method', '"fn_name":"read"'), policy)).toBeTypeOf('object');
  });

  test('a sensitive method must be named in the policy', () => {
    const call = readCall('res.users', 'change_password');
    expect(run(call, {})).toBe('sensitive_methods');
    expect(run(call, { models: { 'res.users': ['*'] } })).toBe('sensitive_methods');
    expect(run(call, { models: { 'res.users': ['change_password'] } })).toBeTypeOf('object');
  });

  test('read_only allows only methods that are known to read', () => {
    for (const method of ['search_read', 'web_read', 'read_group', 'fields_get', 'name_search'])
      expect(run(readCall('res.partner', method), { read_only: true })).toBeTypeOf('object');
    for (const method of ['write', 'create', 'web_save', 'onchange', 'default_get', 'action_archive'])
      expect(run(readCall('res.partner', method), { read_only: true })).toBe('read_only');
  });

  test('fields of related records need a policy that names a method for all models, if the proxy does not know it', () => {
    const call = (method: string) =>
      readCall('res.partner', method, '"params":[[1],{"country_id":{"fields":{"code":{}}}}]');
    // The paths of methods that the proxy knows are checked by the types of fields.
    expect(run(call('web_read'), {})).toBeTypeOf('object');
    expect(run(call('x_read'), { models: { '*': ['x_*'] } })).toBe('models');
    expect(run(call('x_read'), { models: { '*': ['x_read'] } })).toBeTypeOf('object');
  });
});

describe('a change of a sensitive model by another record', () => {
  const user = '[[0,0,{"login":"x"}]]';
  const values = `{"name":"a","user_ids":${user}}`;

  test.each([
    ['create', `"params":[${values}]`],
    ['create', `"params":[[{"name":"b"},${values}]]`],
    ['create', `"params":[{"child_ids":[[0,0,${values}]]}]`],
    ['write', `"params":[[1],${values}]`],
    ['web_save', `"params":[[1],${values},{}]`],
    ['copy', `"params":[[1],${values}]`],
    ['onchange', `"params":[[1],${values},[],{}]`],
    ['message_post', `"params":[[1]],"keyword":{"body":"a","context":{"default_user_ids":${user}}}`],
    ['x_method', `"params":[[1]],"keyword":{"values":${values}}`],
  ])('needs a policy that names its model and method: %s %s', (method, rest) => {
    const call = readCall('res.partner', method, rest);
    const models = { '*': ['*', 'x_*'] };
    expect(run(call, { models })).toBe('sensitive_methods');
    expect(run(call, { models: { ...models, 'res.users': ['*'], 'res.*': ['create'] } })).toBe(
      'sensitive_methods',
    );
    expect(run(call, { models: { ...models, 'res.users': ['create'] } })).toBeTypeOf('object');
  });

  test('needs the same in a call with named arguments', () => {
    for (const kwargs of [
      `{"vals_list":[${values}]}`,
      `{"vals_list":[],"context":{"default_user_ids":${user}}}`,
    ]) {
      const call = readJson2Call('create', kwargs);
      expect(runJson2(call, {})).toBe('sensitive_methods');
      expect(runJson2(call, { models: { '*': ['*'], 'res.users': ['create'] } })).toBe(kwargs);
    }
  });

  test('needs the same in an import that the policy names', () => {
    const call = readCall('res.partner', 'load', '"params":[["name","user_ids/login"],[["a","x"]]]');
    expect(run(call, { models: { 'res.partner': ['load'] } })).toBe('sensitive_methods');
    expect(run(call, { models: { 'res.partner': ['load'], 'res.users': ['create', 'write'] } })).toBeTypeOf(
      'object',
    );
  });

  test('has a message that says which field to leave out', () => {
    const denial = authorize(readCall('res.partner', 'create', `"params":[${values}]`), {});
    expect(denial).toMatchObject({ message: expect.stringContaining('`user_ids` leads to `res.users`') });
    expect(denial).toMatchObject({ message: expect.stringContaining('names `create` of `res.users`') });
  });

  test('does not include lines of an order, which are not changed', () => {
    const params = '[[1],{"order_line":[[0,0,{"product_id":2, "tax_id":[[6,0,[1]]]}],[2,5,0]]}]';
    expect(run(readCall('sale.order', 'write', `"params":${params}`), {})).toEqual({ params, keyword: '{}' });
  });
});

describe('limit_max', () => {
  const max = { limit_max: 5 };

  test.each<[string, string, string | { params: string; keyword: string }]>([
    ['search', '"params":[[]]', { params: '[[]]', keyword: '{"limit":5}' }],
    [
      'search',
      '"params":[[]],"keyword":{ "order" : "id" }',
      { params: '[[]]', keyword: '{ "order" : "id" ,"limit":5}' },
    ],
    [
      'search',
      '"params":[[]],"keyword":{"limit":1e1,"a":1.0}',
      { params: '[[]]', keyword: '{"limit":5,"a":1.0}' },
    ],
    ['search', '"params":[[]],"keyword":{"limit":null}', { params: '[[]]', keyword: '{"limit":5}' }],
    ['search', '"params":[[]],"keyword":{"limit":4.0}', { params: '[[]]', keyword: '{"limit":4.0}' }],
    ['search', '"params":[ [], 0, 99 , "id"]', { params: '[ [], 0, 5 , "id"]', keyword: '{}' }],
    ['search', '"params":[[],0,false]', { params: '[[],0,5]', keyword: '{}' }],
    ['search', '"params":[[],0,3]', { params: '[[],0,3]', keyword: '{}' }],
    ['search', '"params":[[],0,3],"keyword":{"limit":9}', { params: '[[],0,5]', keyword: '{"limit":5}' }],
    ['search', '"params":[[],0,"99"]', 'limit_max'],
    ['search', '"params":[[],0,1.5]', 'limit_max'],
    ['search_read', '"params":null,"keyword":[]', { params: '[]', keyword: '{"limit":5}' }],
    ['name_search', '"params":["a"]', { params: '["a"]', keyword: '{"limit":5}' }],
    ['read', '"params":[[1,2,3,4,5,6,7],["name"]]', { params: '[[1,2,3,4,5],["name"]]', keyword: '{}' }],
    ['read', '"params":[[1,2,3,4,5,6,7]],"keyword":{"limit":9}', { params: '[[1,2,3,4,5]]', keyword: '{}' }],
    ['read', '"params":[[1,2,3,4,5,6,7]],"keyword":{"limit":3}', { params: '[[1,2,3]]', keyword: '{}' }],
    ['read', '"params":[7]', { params: '[7]', keyword: '{}' }],
    ['read', '"params":["1234567"]', 'limit_max'],
    ['web_read', '"params":[[1,2,3,4,5,6],{}]', 'limit_max'],
    ['web_read', '"params":[[1,2,3,4,5],{}]', { params: '[[1,2,3,4,5],{}]', keyword: '{}' }],
    ['search_count', '"params":[[]]', { params: '[[]]', keyword: '{}' }],
    ['read_group', '"params":[[],["email:array_agg"],[]]', 'limit_max'],
    ['search_panel_select_range', '"params":["user_id"]', 'limit_max'],
    [
      'search_panel_select_range',
      '"params":["user_id"],"keyword":{"limit":5}',
      { params: '["user_id"]', keyword: '{"limit":5}' },
    ],
    ['hierarchy_read', '"params":[[],{},"parent_id"]', 'limit_max'],
    ['create', '"params":[[{},{},{},{},{},{}]]', { params: '[[{},{},{},{},{},{}]]', keyword: '{}' }],
  ])('%s with %s', (method, rest, outcome) => {
    expect(run(readCall('res.partner', method, rest), max)).toEqual(outcome);
  });

  test.each<[string, string, string]>([
    ['search_read', '{"domain":[]}', '{"domain":[],"limit":5}'],
    ['search_read', '{"domain":[],"limit":0}', '{"domain":[],"limit":5}'],
    ['search_read', '{"limit":"9"}', 'limit_max'],
    ['read', '{"ids":[1, 2,3,4,5,6],"fields":["name"]}', '{"ids":[1, 2,3,4,5],"fields":["name"]}'],
    ['read', '{"ids":7}', '{"ids":7}'],
    ['web_read', '{"ids":[1,2,3,4,5,6]}', 'limit_max'],
  ])('in a call with named arguments: %s %s', (method, kwargs, outcome) => {
    expect(runJson2(readJson2Call(method, kwargs), max)).toBe(outcome);
  });

  test('bounds the records for all arguments that Odoo could accept', () => {
    const value = fc.constantFrom(
      '[]',
      '0',
      'null',
      'false',
      'true',
      '3',
      '5',
      '6',
      '5.0',
      '6e0',
      '1e3',
      '-1',
      '1.5',
      '99999999999999999999',
      '1e400',
      '"9"',
      '""',
      '[9]',
      '{}',
    );
    const method = fc.constantFrom(
      'search',
      'search_read',
      'web_search_read',
      'read_group',
      'formatted_read_group',
      'name_search',
    );
    const params = fc.array(value, { maxLength: 9 });
    const named = fc.dictionary(fc.constantFrom('limit', 'l\\u0069mit', 'offset', 'order'), value, {
      maxKeys: 3,
    });
    fc.assert(
      fc.property(method, params, named, (name, positional, keyword) => {
        const members = Object.entries(keyword).map(([key, text]) => `"${key}":${text}`);
        const rest = `"params":[${positional}],"keyword":{${members}}`;
        let call: Call;
        try {
          call = readCall('res.partner', name, rest);
        } catch {
          // Refused by the parser.
          return;
        }
        const outcome = run(call, max);
        if (typeof outcome === 'string') return;
        const sentParams: unknown[] = JSON.parse(outcome.params);
        const sentKeyword: Record<string, unknown> = JSON.parse(outcome.keyword);
        const limits = [sentParams[LIMIT_AT[name] ?? -1], sentKeyword['limit']].filter(
          (limit) => limit !== undefined,
        );
        expect(limits.length).toBeGreaterThan(0);
        for (const limit of limits)
          expect(Number.isInteger(limit) && Number(limit) >= 1 && Number(limit) <= 5).toBe(true);
      }),
      { numRuns: countCases(2000) },
    );
  });

  /** A second copy of the positions, from the signatures of docs/odoo-facts.md#parameters. */
  const LIMIT_AT: Record<string, number> = {
    search: 2,
    search_read: 3,
    web_search_read: 3,
    read_group: 4,
    formatted_read_group: 5,
    name_search: 3,
  };
});

describe('companies', () => {
  const only = { companies: [3, 1] };
  const set = '{"allowed_company_ids":[3,1]}';

  test.each<[string, string]>([
    ['', `{"context":${set}}`],
    ['"keyword":null', `{"context":${set}}`],
    ['"keyword":[]', `{"context":${set}}`],
    ['"keyword":{"limit":1}', `{"limit":1,"context":${set}}`],
    ['"keyword":{"context":null}', `{"context":${set}}`],
    ['"keyword":{"context":[ ]}', `{"context":${set}}`],
    ['"keyword":{"context":{}}', `{"context":${set}}`],
    [
      '"keyword":{"context":{ "lang" : "fr_FR", "x":1.0 }}',
      '{"context":{ "lang" : "fr_FR", "x":1.0 ,"allowed_company_ids":[3,1]}}',
    ],
    [
      '"keyword":{"context":{"allowed_company_ids":false,"x":1.0}}',
      '{"context":{"allowed_company_ids":[3,1],"x":1.0}}',
    ],
    ['"keyword":{"context":{"allowed_company_ids":[ ]}}', `{"context":${set}}`],
    ['"keyword":{"context":{"allowed_company_ids":[1.0]}}', '{"context":{"allowed_company_ids":[1.0]}}'],
    [
      '"keyword":{"context":{"allowed_company_ids":[1],"default_company_id":3}}',
      '{"context":{"allowed_company_ids":[1],"default_company_id":3}}',
    ],
  ])('are set if %j omits them, and nothing else is changed', (rest, keyword) => {
    expect(run(readCall('res.partner', 'search', rest), only)).toMatchObject({ keyword });
  });

  test.each([
    '{"allowed_company_ids":[1,2]}',
    '{"allowed_company_ids":[3,1,99999999999999999999]}',
    '{"allowed_company_ids":[1],"default_company_id":2}',
    '{"allowed_company_ids":[1],"force_company":2}',
    '{"allowed_company_ids":[1],"company_id":2}',
    '{"allowed_company_ids":[1],"company_id":"1"}',
    '{"allowed_company_ids":[1],"company_id":true}',
    '{"a\\u006clowed_company_ids":[2]}',
  ])('that the policy does not name are refused: %s', (context) => {
    expect(run(readCall('res.partner', 'search', `"keyword":{"context":${context}}`), only)).toBe(
      'companies',
    );
    expect(runJson2(readJson2Call('search', `{"context":${context}}`), only)).toBe('companies');
  });

  test.each([
    '{"allowed_company_ids":[1],"allowed_company_ids":null}',
    '{"allowed_company_ids":[true]}',
    '{"allowed_company_ids":1}',
    '"x"',
    '[1]',
    '7',
  ])('cannot be hidden in a context that the parser has not checked: %s', (context) => {
    expect(runJson2(readJson2Call('search', `{"context":${context}}`), only)).toBe('companies');
  });

  test('are set in a call with named arguments', () => {
    expect(runJson2(readJson2Call('search', '{"domain":[]}'), only)).toBe(`{"domain":[],"context":${set}}`);
    expect(runJson2(readJson2Call('search', 'null'), only)).toBe(`{"context":${set}}`);
  });

  test('cannot be set by a context in the specification of fields', () => {
    const spec = '{"user_id":{"fields":{"display_name":{}},"context":{"allowed_company_ids":[2]}}}';
    const call = readCall('res.partner', 'web_read', `"params":[[1],${spec}]`);
    expect(run(call, only)).toBe('companies');
    expect(run(call, {})).toBeTypeOf('object');
  });

  test('can be set together with a limit', () => {
    const call = readCall(
      'res.partner',
      'search',
      '"params":[[[ "a","=",1.0 ]],0,9],"keyword":{"order":"id"}',
    );
    expect(run(call, { ...only, limit_max: 5 })).toEqual({
      params: '[[[ "a","=",1.0 ]],0,5]',
      keyword: `{"order":"id","context":${set}}`,
    });
  });
});

describe('context', () => {
  const defaults = { lang: 'fr_FR', tz: 'Europe/Paris', allowed_company_ids: [3] };
  const set = '"allowed_company_ids":[3],"lang":"fr_FR","tz":"Europe/Paris"';

  test.each<[string, string]>([
    ['', `{"context":{${set}}}`],
    ['"keyword":[]', `{"context":{${set}}}`],
    ['"keyword":{"context":false}', `{"context":{${set}}}`],
    ['"keyword":{"context":[]}', `{"context":{${set}}}`],
    [
      '"keyword":{"context":{"lang":"de_DE", "x":1.0}}',
      '{"context":{"lang":"de_DE", "x":1.0,"allowed_company_ids":[3],"tz":"Europe/Paris"}}',
    ],
    [
      '"keyword":{"context":{"lang":null,"tz":false,"allowed_company_ids":[]}}',
      '{"context":{"lang":"fr_FR","tz":"Europe/Paris","allowed_company_ids":[3]}}',
    ],
    [
      '"keyword":{"context":{"l\\u0061ng":"","tz":"UTC","allowed_company_ids":[1]}}',
      '{"context":{"l\\u0061ng":"","tz":"UTC","allowed_company_ids":[1]}}',
    ],
  ])('is completed in %j, and nothing else is changed', (rest, keyword) => {
    expect(run(readCall('res.partner', 'search', rest), { context: defaults })).toMatchObject({ keyword });
  });

  test('gives those of its companies, and allows all of `companies`', () => {
    const policy = { companies: [1, 3], context: { allowed_company_ids: [3] } };
    const search = (context: string) => readCall('res.partner', 'search', `"keyword":{"context":${context}}`);
    expect(run(search('{}'), policy)).toMatchObject({ keyword: '{"context":{"allowed_company_ids":[3]}}' });
    const given = '{"context":{"allowed_company_ids":[1]}}';
    expect(run(search('{"allowed_company_ids":[1]}'), policy)).toMatchObject({ keyword: given });
    expect(run(search('{"allowed_company_ids":[2]}'), policy)).toBe('companies');
  });

  test('also gives all of `companies` if it names none', () => {
    const policy = { companies: [1, 3], context: { tz: 'UTC' } };
    const keyword = '{"context":{"allowed_company_ids":[1,3],"tz":"UTC"}}';
    expect(run(readCall('res.partner', 'search'), policy)).toMatchObject({ keyword });
  });

  test('reaches the fields of a specification, whose own context has precedence in Odoo', () => {
    const params = '[[1],{"user_id":{"fields":{"display_name":{}},"context":{"lang":"de_DE"}}}]';
    const call = readCall('res.partner', 'web_read', `"params":${params}`);
    const keyword = '{"context":{"lang":"fr_FR"}}';
    expect(run(call, { context: { lang: 'fr_FR' } })).toEqual({ params, keyword });
  });

  test('is completed in a call with named arguments', () => {
    const lang = { context: { lang: 'fr_FR' } };
    expect(runJson2(readJson2Call('search', '{"domain":[]}'), lang)).toBe(
      '{"domain":[],"context":{"lang":"fr_FR"}}',
    );
    expect(runJson2(readJson2Call('search', 'null'), lang)).toBe('{"context":{"lang":"fr_FR"}}');
  });

  test.each(['"x"', '[1]', '7', '{"lang":"de_DE","lang":null}', '{"x":1,"x":2}'])(
    'stays as it is if the proxy cannot read it: %s',
    (context) => {
      const kwargs = `{"context":${context}}`;
      expect(runJson2(readJson2Call('search', kwargs), { context: defaults })).toBe(kwargs);
    },
  );

  test('never replaces what the caller gave, and gives all that the caller left out', () => {
    const value = fc.oneof(
      fc.constantFrom(undefined, null, false),
      fc.constantFrom('fr_FR', 'de_DE', 'UTC', 'Asia/Tokyo'),
    );
    const companies = fc.oneof(
      fc.constantFrom(undefined, null, false),
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 3 }),
    );
    const context = fc.record({ lang: value, tz: value, allowed_company_ids: companies, x: fc.jsonValue() });
    const ofPolicy = fc.record(
      {
        lang: fc.constantFrom('it_IT', 'es_419'),
        tz: fc.constantFrom('Europe/Rome', 'America/Lima'),
        allowed_company_ids: fc.constant<number[]>([7, 8]),
      },
      { requiredKeys: [] },
    );
    const isGiven = (given: unknown) =>
      given !== undefined &&
      given !== null &&
      given !== false &&
      !(Array.isArray(given) && given.length === 0);
    fc.assert(
      fc.property(context, ofPolicy, fc.boolean(), (given, fromPolicy, isJson2) => {
        fc.pre(given.tz !== 'fr_FR' && given.tz !== 'de_DE');
        const keyword = JSON.stringify({ order: 'id', context: given });
        const call = `"keyword":${keyword}`;
        const sent = isJson2
          ? runJson2(readJson2Call('search', keyword), { context: fromPolicy })
          : (run(readCall('res.partner', 'search', call), { context: fromPolicy }) as { keyword: string })
              .keyword;
        const expected: Record<string, unknown> = JSON.parse(JSON.stringify(given));
        for (const [name, member] of Object.entries(fromPolicy))
          if (!isGiven(expected[name])) expected[name] = member;
        expect(JSON.parse(sent ?? '')).toEqual({ order: 'id', context: expected });
      }),
    );
  });
});

/** Returns a question for the version of a server. */
function ask(url: string) {
  return { url, address: { origin: url, pathPrefix: '' } };
}
