/** The cases by which behaviour.heavy.test.ts compares the clients. Data only. */
import type { Policy } from '@erp-proxy/contract';
import type { ClientOptions, ValueForm } from '../../client/src/index.ts';

export type Client = Omit<ClientOptions<ValueForm>, 'fetch' | 'hooks'>;

export interface Step {
  /** Without a model, the method is one of the client. */
  model?: string;
  /** For a method of a job: its id, and the kind of its result if that is a file. */
  job?: readonly [id: string, kind?: 'file'];
  /** The method in the spelling of TypeScript. */
  do: string;
  /** Positional arguments. `$0` stands for the result of the first step. */
  args?: readonly unknown[];
  /** Named arguments, which TypeScript has in an object. Must be there if the method has them. */
  query?: object;
  options?: object;
}

export interface Case {
  name: string;
  client?: Client;
  steps: readonly Step[];
  /** What some outcomes, by their index, and the requests must match, beside being the same for all clients. */
  expect?: { outcomes?: Readonly<Record<number, object>>; requests?: number | readonly object[] };
}

type SandboxCase = Case & { policy?: Pick<Policy, 'models' | 'approve' | 'limit_max'> };
type OdooCase = Case & {
  /** The answers of Odoo one after the other. The last one repeats. */
  odoo: readonly ('reset' | 'rolled back' | { result: unknown } | { http: string })[];
};
type FrontCase = Case & {
  /** The bytes that a server in place of the proxy answers, one after the other. The last answer repeats. */
  answers: readonly string[];
};

/** Far longer than a call takes, and shorter than the wait that one of the servers asks for. */
const LIMIT_MS = 25_400;
const NO_TIME_MS = 0;
const model = 'res.partner';
const COMPANIES = [['is_company', '=', true]];
const read: Step = { model, do: 'read', args: [[9]], query: { fields: ['name'] } };
const create: Step = { model, do: 'create', args: [{ name: 'Azure' }] };
const write = { action: 'write', model_id: model, params: [[9], { ref: 'B' }] };

export const SANDBOX_CASES: readonly SandboxCase[] = [
  {
    name: 'reads',
    steps: [
      {
        model,
        do: 'searchRead',
        args: [COMPANIES],
        query: { fields: ['name', 'country_id'], order: 'name', limit: 3 },
      },
      {
        model,
        do: 'searchRead',
        args: [COMPANIES],
        query: { fields: ['name'], order: 'id', offset: 2, limit: 1 },
      },
      { model, do: 'read', args: [[9, 10]], query: { fields: ['name', 'email', 'child_ids'] } },
      { model, do: 'one', args: [9], query: { fields: ['name'] } },
      { model, do: 'one', args: [999_999], query: { fields: ['name'] } },
      { model, do: 'search', args: [COMPANIES], query: { order: 'id desc', limit: 4 } },
      { model, do: 'nameSearch', args: ['wood'], query: { limit: 2 } },
      { model, do: 'nameSearch', args: ['o'], query: { domain: COMPANIES, operator: 'ilike', limit: 2 } },
      { model, do: 'count', args: [COMPANIES] },
      { model, do: 'describe' },
    ],
  },
  {
    name: 'writes',
    steps: [
      { model, do: 'create', args: [{ name: 'Zoë & Søn 🙂', child_ids: [[0, 0, { name: 'Ann' }]] }] },
      { model, do: 'update', args: ['$0', { ref: 'A1' }] },
      { model, do: 'write', args: [['$0'], { email: 'a@example.com' }], options: { timeout: LIMIT_MS } },
      { model, do: 'read', args: [['$0']], query: { fields: ['name', 'ref', 'email', 'child_ids'] } },
      { model, do: 'call', args: ['action_archive', [['$0']]] },
      { model, do: 'call', args: ['search_count', [[['id', '=', '$0']]], { limit: 1 }] },
      { model, do: 'createMany', args: [[{ name: 'One' }, { name: 'Two' }]] },
      { model, do: 'delete', args: ['$6'] },
      { model, do: 'read', args: ['$6'], query: { fields: ['name'] } },
      { model, do: 'unlink', args: ['$0'] },
    ],
    expect: { outcomes: { 1: { result: true }, 3: { result: [{ ref: 'A1', email: 'a@example.com' }] } } },
  },
  {
    name: 'normalized values, of reads and of writes',
    client: { values: 'normalized' },
    steps: [
      { model, do: 'read', args: [[9]], query: { fields: ['country_id', 'parent_id', 'create_date'] } },
      { model, do: 'update', args: [9, { country_id: null, child_ids: { create: [{ name: 'Ann' }] } }] },
      { model, do: 'one', args: [9], query: { fields: ['country_id'] } },
      { do: 'batch', args: [[{ action: 'read', model_id: model, params: [[9], ['country_id']] }, write]] },
      { model, do: 'export', args: [[['id', '=', 9]]], query: { fields: ['country_id'] } },
      { model, do: 'changes', args: [[['id', '=', 9]]], query: { fields: ['country_id'], since: null } },
    ],
    expect: { outcomes: { 0: { result: [{ parent_id: null }] }, 2: { result: { country_id: null } } } },
  },
  {
    name: 'the context of the client and of the call',
    client: { context: { active_test: false, lang: 'en_US' } },
    steps: [
      { model, do: 'create', args: [{ name: 'Archived', active: false }] },
      { model, do: 'search', args: [[['name', '=', 'Archived']]], query: {} },
      {
        model,
        do: 'search',
        args: [[['name', '=', 'Archived']]],
        query: {},
        options: { context: { active_test: true } },
      },
      { model, do: 'export', args: [[['name', '=', 'Archived']]], query: { fields: ['name'] } },
      { model, do: 'count', args: [[]], options: { context: { tz: 'Nowhere/City' } } },
      {
        do: 'execute',
        args: [
          { action: 'search_count', model_id: model, params: [[]], keyword: { context: { tz: 'UTC' } } },
        ],
      },
    ],
    expect: { outcomes: { 2: { result: [] }, 4: { error: { type: 'invalid_params' } } } },
  },
  {
    name: 'pages, in the order by id and in another one',
    steps: [
      { model, do: 'paginate', args: [[]], query: { fields: ['name'], pageSize: 7 } },
      {
        model,
        do: 'paginate',
        args: [COMPANIES],
        query: { fields: ['name'], pageSize: 3, order: 'id DESC', limit: 5 },
      },
      {
        model,
        do: 'paginate',
        args: [[]],
        query: { fields: ['name'], pageSize: 4, order: 'name desc', limit: 9 },
      },
      { model, do: 'paginate', args: [[['id', '<', 0]]], query: { fields: ['name'] } },
      { model, do: 'paginate', args: [[]], query: { fields: ['nmae'] } },
      { model, do: 'paginate', args: [[]], query: { fields: ['name'], limit: 0 } },
    ],
  },
  {
    name: 'pages that the policy shortens',
    policy: { models: { [model]: ['*'] }, limit_max: 4 },
    steps: [
      { model, do: 'paginate', args: [[]], query: { fields: ['name'] } },
      { model, do: 'paginate', args: [[]], query: { fields: ['name'], order: 'name' } },
      { model, do: 'paginate', args: [[]], query: { fields: ['name'], order: 'name', limit: 3 } },
    ],
    expect: { outcomes: { 1: { error: { type: 'usage' } } } },
  },
  {
    name: 'one call on many instances',
    client: { context: { tz: 'UTC' } },
    steps: [
      {
        do: 'fleet',
        args: [{ action: 'search_count', model_id: model, params: [[]] }],
        query: { instances: ['p*'] },
      },
      {
        do: 'fleet',
        args: [{ action: 'search_count', model_id: 'no.model' }],
        query: { instances: ['prod'], concurrency: 2 },
      },
      { do: 'fleet', args: [{ action: 'read', model_id: model }], query: { tags: ['nobody'] } },
    ],
    expect: {
      outcomes: {
        0: { result: [{ instance: 'prod' }] },
        1: { result: [{ instance: 'prod', error: { type: 'model_not_found' } }] },
        2: { error: { type: 'invalid_request' } },
      },
    },
  },
  {
    name: 'jobs',
    client: { values: 'normalized' },
    steps: [
      { do: 'startJob', args: [{ action: 'read', model_id: model, params: [[9], ['name', 'parent_id']] }] },
      { job: ['$0'], do: 'done', options: { timeout: LIMIT_MS } },
      { job: ['$0'], do: 'status' },
      { job: ['$0'], do: 'cancel' },
      { do: 'startExport', args: [{ model_id: model, fields: ['name'], limit: 2 }] },
      { job: ['$4', 'file'], do: 'done' },
      { do: 'startJob', args: [{ action: 'read', model_id: model, params: [[9], ['nope']] }] },
      { job: ['$6'], do: 'done' },
      { do: 'startJob', args: [{ action: '_private', model_id: model }] },
      { do: 'startJob', args: [write], options: { callback: 'nobody' } },
      { job: ['../execute'], do: 'status' },
      { job: ['$0'], do: 'done', options: { timeout: NO_TIME_MS } },
    ],
    expect: {
      outcomes: {
        1: { result: [{ id: 9, parent_id: null }] },
        2: { result: { state: 'done' } },
        3: { result: { state: 'done' } },
        5: { result: { type: 'application/x-ndjson' } },
        7: { error: { type: 'query_invalid' } },
        8: { error: { type: 'action_invalid' } },
        9: { error: { status: 400 } },
        10: { error: { type: 'route_not_found' } },
        11: { error: { type: 'usage' } },
      },
    },
  },
  {
    name: 'exports',
    steps: [
      { model, do: 'export', args: [COMPANIES], query: { fields: ['name', 'country_id'] } },
      { model, do: 'export', args: [[]], query: { fields: ['name'], limit: 2, after: 9 } },
      { model, do: 'export', args: [[['id', '<', 0]]], query: { fields: ['name'] } },
      { model, do: 'export', args: [[]], query: { fields: ['nmae'] } },
      {
        model,
        do: 'exportCsv',
        args: [[['id', '=', 9]]],
        query: { fields: ['name'], bom: true, delimiter: ';' },
      },
      { model, do: 'exportCsv', args: [[]], query: { fields: ['name'], escapeFormulas: false, limit: 3 } },
      { model, do: 'exportCsv', args: [[]], query: { fields: ['name'], delimiter: 'x' } },
    ],
  },
  {
    name: 'changes',
    steps: [
      { model, do: 'changes', args: [COMPANIES], query: { fields: ['name'], since: null, limit: 4 } },
      { model, do: 'changes', args: [COMPANIES], query: { fields: ['name'], since: 'stale' } },
    ],
    expect: { outcomes: { 1: { error: { type: 'invalid_request' } } } },
  },
  {
    name: 'files',
    steps: [
      {
        model: 'ir.attachment',
        do: 'upload',
        args: ['datas', 'a file'],
        query: { values: { name: 'Größe 1.txt', mimetype: 'text/plain' } },
      },
      { model: 'ir.attachment', do: 'download', args: ['$0', 'datas'] },
      { model: 'ir.attachment', do: 'upload', args: ['datas', 'another'], query: { id: '$0' } },
      { model: 'ir.attachment', do: 'download', args: ['$0', 'datas'] },
      { model: 'ir.attachment', do: 'download', args: [999_999, 'datas'] },
      { model: 'ir.attachment', do: 'upload', args: ['nmae', 'x'], query: { id: '$0' } },
    ],
    expect: {
      outcomes: { 1: { result: { name: 'Größe 1.txt' } }, 4: { error: { type: 'record_missing' } } },
    },
  },
  {
    name: 'upsert',
    steps: [
      {
        model,
        do: 'upsert',
        args: [
          'ref',
          [
            { ref: 'u1', name: 'One' },
            { ref: 'u2', name: 'Two' },
          ],
        ],
      },
      {
        model,
        do: 'upsert',
        args: [
          ['ref', 'name'],
          [
            { ref: 'u2', name: 'Two' },
            { ref: 'u3', name: 'Three' },
          ],
        ],
      },
      { model, do: 'search', args: [[['ref', '=like', 'u_']]], query: { order: 'id' } },
      { model, do: 'upsert', args: ['ref', [{ ref: 'u1' }, { ref: 'u1' }]] },
      { model, do: 'upsert', args: ['ref', [{ name: 'None' }]] },
      { model, do: 'upsert', args: [[], [{ ref: 'u1' }]] },
      { model, do: 'upsert', args: ['ref', []] },
      {
        model,
        do: 'createMany',
        args: [
          [
            { ref: 'u9', name: 'A' },
            { ref: 'u9', name: 'B' },
          ],
        ],
      },
      { model, do: 'upsert', args: ['ref', [{ ref: 'u9', name: 'C' }]] },
    ],
  },
  {
    name: 'batches keep their order, and give a result or an error for each call',
    steps: [
      {
        do: 'batch',
        args: [
          [
            { action: 'search_count', model_id: model, params: [COMPANIES] },
            { action: 'read', model_id: model, params: [[9]], keyword: { fields: ['nmae'] } },
            write,
          ],
        ],
      },
      {
        do: 'batch',
        args: [
          Array.from({ length: 150 }, () => ({
            action: 'search_count',
            model_id: 'res.country',
            params: [[]],
          })),
        ],
      },
      { do: 'batch', args: [[]] },
    ],
  },
  {
    name: 'errors of Odoo and of the proxy',
    steps: [
      { model, do: 'read', args: [[9]], query: { fields: ['nmae'] } },
      { model: 'res.partnr', do: 'count', args: [[]] },
      { model, do: 'read', args: [[999_999]], query: { fields: ['name'] } },
      { model, do: 'call', args: ['action_nothing', [[9]]] },
      { model, do: 'call', args: ['_private', [[9]]] },
      { model, do: 'create', args: [{ name: 'x', country_id: 'not an id' }] },
      { do: 'execute', args: [{ action: 'read', model_id: 'res partner' }] },
      { do: 'execute', args: [{ action: 'read', model_id: model, parms: [] }] },
      { model, do: 'read', args: [[9]], query: { fields: ['name'] }, options: { timeout: NO_TIME_MS } },
      { model, do: 'read', args: [[9]], query: { fields: ['name'] }, options: { timeout: -5 } },
      { model, do: 'download', args: [9, 'image_1920'], options: { timeout: NO_TIME_MS } },
    ],
    expect: { outcomes: { 0: { error: { type: 'query_invalid' } }, 8: { error: { type: 'usage' } } } },
  },
  {
    name: 'what a policy denies, and what a person must approve',
    policy: { models: { [model]: ['*'] }, approve: { [model]: ['unlink'] } },
    steps: [
      { model: 'sale.order', do: 'count', args: [[]] },
      { model, do: 'export', args: [[]], query: { fields: ['name'] } },
      { model, do: 'changes', args: [[]], query: { fields: ['name'], since: null } },
      { model, do: 'delete', args: [9] },
      { model, do: 'delete', args: [9], options: { approval: '0'.repeat(24) } },
    ],
    expect: {
      outcomes: { 0: { error: { type: 'policy_denied' } }, 3: { error: { type: 'approval_required' } } },
    },
  },
  { name: 'a wrong client key', client: { key: 'ep_wrong_key' }, steps: [read, create] },
  {
    name: 'an idempotency key of the caller',
    steps: [
      { ...create, options: { idempotencyKey: 'order-1' } },
      { ...create, options: { idempotencyKey: 'order-1' } },
      { model, do: 'create', args: [{ name: 'Other' }], options: { idempotencyKey: 'order-1' } },
      { model, do: 'search', args: [[['name', '=', 'Azure']]], query: {} },
      { model, do: 'createMany', args: [[{ name: 'A' }]], options: { idempotencyKey: 'é-1' } },
    ],
    expect: { outcomes: { 2: { error: { type: 'idempotency_conflict' } } } },
  },
];

export const ODOO_CASES: readonly OdooCase[] = [
  {
    name: 'a read is tried again',
    odoo: ['reset', { result: [{ id: 9 }] }],
    steps: [read],
    expect: { requests: 2 },
  },
  {
    name: 'a read is given up after the retries',
    odoo: ['reset'],
    client: { retries: 1 },
    steps: [read],
    expect: { requests: 2, outcomes: { 0: { error: { type: 'upstream_unreachable' } } } },
  },
  {
    name: 'a write that may have run is not sent again',
    odoo: ['reset'],
    steps: [create],
    expect: {
      requests: 1,
      outcomes: { 0: { error: { outcome: 'unknown', retryable: false, hasKey: true } } },
    },
  },
  {
    name: 'a write that Odoo rolled back is sent again',
    odoo: ['rolled back', { result: 7 }],
    steps: [create],
    expect: { requests: 2, outcomes: { 0: { result: 7 } } },
  },
  {
    name: 'the calls of a batch that can be repeated are repeated, the others keep their answers',
    odoo: ['rolled back', { result: true }],
    steps: [{ do: 'batch', args: [[write, write]] }],
    expect: { requests: 3 },
  },
  {
    name: 'without retries, the first error is raised',
    odoo: ['rolled back', { result: 7 }],
    client: { retries: 0 },
    steps: [create],
    expect: { requests: 1 },
  },
  {
    name: 'a wait that is longer than the time limit is not made',
    odoo: [{ http: 'HTTP/1.0 503 Busy\r\nRetry-After: 60\r\nContent-Length: 2\r\n\r\nno' }],
    steps: [{ ...read, options: { timeout: LIMIT_MS } }, read],
    expect: { requests: 2, outcomes: { 0: { error: { type: 'overloaded', retryAfter: 60 } } } },
  },
];

const json = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const html = (status: string, more = '') =>
  `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: text/html\r\n${more}content-length: 6\r\n\r\n<html>`;
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const lines = (text: string, end = '0\r\n\r\n') =>
  `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n${chunk(text)}${end}`;
const ROW = '{"id": 9, "name": "é"}';
const found = json(`{"jsonrpc":"2.0","id":null,"result":[${ROW}]}`);

export const FRONT_CASES: readonly FrontCase[] = [
  {
    name: 'a page of a server in front of the proxy: a read is tried again',
    answers: [html('502 Bad Gateway'), found],
    steps: [read],
    expect: { requests: [{ attempt: '', path: '/proxy/api/erp/execute' }, { attempt: '.2' }] },
  },
  {
    name: 'a write with a key is tried again, with the same key and body',
    answers: [html('503 Unavailable', 'retry-after: 1\r\n'), json('{"jsonrpc":"2.0","id":null,"result":7}')],
    steps: [{ ...create, options: { idempotencyKey: 'order-1', timeout: LIMIT_MS } }],
    expect: { requests: [{ idempotencyKey: 'order-1' }, { idempotencyKey: 'order-1' }] },
  },
  {
    name: 'a write without a key is not tried again',
    answers: [html('502 Bad Gateway')],
    client: { idempotencyKeys: false },
    steps: [create],
    expect: { outcomes: { 0: { error: { type: 'invalid_answer', outcome: 'unknown' } } }, requests: [{}] },
  },
  {
    name: 'a redirect is not followed',
    answers: [html('302 Found', 'location: /elsewhere\r\n')],
    steps: [read, create],
    expect: {
      outcomes: { 0: { error: { type: 'invalid_answer', status: 302, retryable: false } } },
      requests: [{}, {}],
    },
  },
  {
    name: 'answers that are none: a wrong page, JSON of something else, no JSON, the answers of a batch',
    answers: [html('200 OK'), json('{"result": 1}'), json('"text"'), json('{"jsonrpc":"2.0",'), json('[]')],
    client: { retries: 0 },
    steps: [read, read, read, read, read],
    expect: { outcomes: { 4: { error: { type: 'invalid_answer', status: 200 } } } },
  },
  {
    name: 'a batch with another number of answers',
    answers: [json('[]')],
    steps: [{ do: 'batch', args: [[write, write]] }],
    expect: { outcomes: { 0: { error: { type: 'invalid_answer' } } } },
  },
  {
    name: 'a connection that ends before, within and after the head of the answer',
    answers: ['', 'HTTP/1.1 200 O', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"jsonrpc"', found],
    client: { retries: 3 },
    steps: [read],
    expect: { outcomes: { 0: { result: [{ id: 9, name: 'é' }] } }, requests: [{}, {}, {}, {}] },
  },
  {
    name: 'the framings of HTTP: chunks with trailers, an announced head, the end of the connection',
    answers: [
      `HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('{"jsonrpc":"2.0",')}${chunk('"result":5}')}0\r\nx-end: 1\r\n\r\n`,
      `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${json('{"jsonrpc":"2.0","result":6}')}`,
      'HTTP/1.0 200 OK\r\n\r\n{"jsonrpc":"2.0","result":7}',
    ],
    steps: [
      { model, do: 'count', args: [[]] },
      { model, do: 'count', args: [[]] },
      { model, do: 'count', args: [[]] },
    ],
    expect: { outcomes: { 0: { result: 5 }, 1: { result: 6 }, 2: { result: 7 } } },
  },
  {
    name: 'an export continues after the last whole record',
    answers: [
      lines('{"id": 1}\n{"id": 2}\n{"id"', ''),
      lines(': 3}', '5\r\n{"'),
      lines('{"id": 3}\n{"id": 4}\n'),
    ],
    steps: [{ model, do: 'export', args: [[]], query: { fields: ['name'], limit: 9 } }],
    expect: { outcomes: { 0: { result: [1, 2, 3, 4].map((id) => ({ id })) } } },
  },
  {
    name: 'an export gives up after as many attempts without a record as a call has',
    answers: [lines('{"id"', '')],
    client: { retries: 1 },
    steps: [
      { model, do: 'export', args: [[]], query: { fields: ['name'] } },
      { model, do: 'exportCsv', args: [[]], query: { fields: ['name'] } },
    ],
    expect: { outcomes: { 0: { error: { type: 'connection_failed' } } }, requests: [{}, {}, {}] },
  },
  {
    name: 'values that are not normalized are an error, not values of another form',
    answers: [
      found,
      lines(`${ROW}\n`),
      json(`[{"jsonrpc":"2.0","result":[${ROW}]},{"jsonrpc":"2.0","result":true}]`),
    ],
    client: { values: 'normalized' },
    steps: [
      read,
      { model, do: 'export', args: [[]], query: { fields: ['name'] } },
      { do: 'batch', args: [[{ action: 'read', model_id: model, params: [[9]] }, write]] },
    ],
  },
  {
    name: 'the form of requests for documents',
    answers: [html('404 Not Found')],
    client: { context: { lang: 'fr_FR', tz: 'UTC' }, values: 'normalized' },
    steps: [
      { model, do: 'document', args: [7], query: {} },
      { model, do: 'document', args: [[7, 8]], query: { report: 'sale.report', lang: 'de_DE' } },
    ],
  },
  {
    name: 'the form of requests: an upload, a download, changes',
    answers: [json('{"jsonrpc":"2.0","result":7}'), html('404 Not Found')],
    client: { context: { lang: 'fr_FR' }, timeout: LIMIT_MS, values: 'normalized' },
    steps: [
      {
        model,
        do: 'upload',
        args: ['image_1920', 'bytes'],
        query: { id: 7 },
        options: { idempotencyKey: "it's 100 %!" },
      },
      { model, do: 'download', args: [7, 'image_1920'] },
      { model, do: 'changes', args: [[]], query: { fields: ['name'], since: null } },
      { model, do: 'exportCsv', args: [[]], query: { fields: ['name'], after: 3 } },
    ],
  },
];
