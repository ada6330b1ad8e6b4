/** Adapts a recorded request to the sandbox: its keys, its database, and its ids of records. */
import type { Sandbox } from '../src/index.ts';
import { exchange, type RecordedRequest } from './exchange.ts';

export async function prepareRequest(
  sandbox: Sandbox,
  { name, request }: { name: string; request: RecordedRequest },
): Promise<RecordedRequest> {
  const headers = await adaptHeaders(sandbox, request);
  if (request.body === null) return { ...request, headers };
  const { admin, demo } = sandbox.users;
  let body = request.body
    .replace(/"o1\d"/g, `"${sandbox.db}"`)
    .replaceAll('<UPSTREAM_API_KEY>', admin.apiKey)
    .replace(/\d+,"<UPSTREAM_DEMO_API_KEY>"/g, `${demo.userId},"${demo.apiKey}"`);
  if (name === 'error-uid-of-other-user') body = body.replace(/,\d+,"/, `,${demo.userId},"`);
  body = body
    .replace(/"allowed_company_ids":\[[13,]*\]/, keepCompanies)
    .replace(/"product_id":\d+/, '"product_id":44');
  if (name === 'error-access-record-rule') body = body.replace(recordIds, '$1[71]');
  else if (name === 'unlink-already-gone') body = body.replace(recordIds, '$1[999]');
  else body = await replaceRecords(sandbox, name, request.path, body);
  await createTwin(sandbox, name, request.path, body);
  return { ...request, headers, body };
}

async function adaptHeaders(
  { url, db, users: { admin, demo } }: Sandbox,
  request: RecordedRequest,
): Promise<RecordedRequest['headers']> {
  const adapted = request.headers.map(([name, value]): [string, string] => [
    name,
    value
      .replace('<UPSTREAM_API_KEY>', admin.apiKey)
      .replace('<UPSTREAM_DEMO_API_KEY>', demo.apiKey)
      .replace(/^o1\d$/, db),
  ]);
  const known = adapted.find(([name]) => name === 'If-None-Match');
  if (known) {
    const headers = adapted.filter((header) => header !== known);
    const answer = await exchange(url, { ...request, headers });
    known[1] = answer.headers.find(([name]) => name === 'ETag')?.[1] ?? '';
  }
  return adapted;
}

/** The ids of a call: the first argument of execute_kw, or a member for json2. */
const recordIds = /(\[|"ids":)\[\d+\]/;

type Call = (model: string, method: string, args: unknown[]) => Promise<unknown>;

function callAs({ url, db, users: { admin } }: Sandbox): Call {
  return async (model, method, args) => {
    const response = await fetch(`${url}/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        params: {
          service: 'object',
          method: 'execute_kw',
          args: [db, admin.userId, admin.apiKey, model, method, args],
        },
      }),
    });
    const { result } = (await response.json()) as { result: unknown };
    return result;
  };
}

// The recorded server of 19 has an additional company.
function keepCompanies(text: string): string {
  return text.replace('3', '2');
}

/** Replaces ids of records that an earlier recording created: the sandbox creates a record for each id. */
async function replaceRecords(sandbox: Sandbox, name: string, path: string, body: string): Promise<string> {
  const [, model = '', list = ''] =
    /"(res\.partner|sale\.order)","\w+",\[\[?(\d+(?:,\d+)*)\b/.exec(body) ??
    /\/(res\.partner|sale\.order)\/\w+ .*"ids":\[(\d+(?:,\d+)*)\b/.exec(`${path} ${body}`) ??
    [];
  if (!list) return body;
  const call = callAs(sandbox);
  const ids: number[] = [];
  for (const id of list.split(',').map(Number)) {
    const isOld = model === 'res.partner' ? id < 40 || id > 1000 : id > 1000;
    ids.push(isOld ? id : await createRecord(call, model, name));
  }
  return body.replace(list, ids.join(','));
}

async function createRecord(call: Call, model: string, name: string): Promise<number> {
  if (model === 'res.partner')
    return (await call(model, 'create', [{ name: 'Rec One', email: 'one@example.com' }])) as number;
  const id = (await call(model, 'create', [
    { partner_id: 3, order_line: [[0, 0, { product_id: 44 }]] },
  ])) as number;
  const isConfirmed = /cancel|confirm-twice|unlink-confirmed/.test(name);
  if (isConfirmed) await call(model, 'action_confirm', [[id]]);
  return id;
}

/** Creates the record that recordings about a unique constraint need. */
async function createTwin(sandbox: Sandbox, name: string, path: string, body: string): Promise<void> {
  const call = callAs(sandbox);
  const tag = /crm\.tag(?:","|\/)create\b.*"name":"([^"]+)"/.exec(`${path} ${body}`)?.[1];
  if (name.startsWith('error-unique-violation') && tag) await call('crm.tag', 'create', [{ name: tag }]);
  if (name !== 'create-date-datetime' || sandbox.version < 18) return;
  // The day was free in the recording over /json/2, and taken in the recording over /jsonrpc.
  if (path.startsWith('/json/2')) await call('res.currency.rate', 'unlink', [[2]]);
  else {
    await call('res.currency.rate', 'create', [
      { name: '2031-02-04', currency_id: 1, rate: 1, company_id: 1 },
    ]);
  }
}
