/**
 * Prints which of our files and functions one warm request runs: `npm run walk -- read`. With `--files` the names of
 * the files too. Counts what the process of the proxy runs from the arrival of a request until its answer has been
 * recorded, by V8's precise coverage. Threads do not count.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSandbox } from '@erp-proxy/sandbox';
import type { Walked } from './walk/subject.ts';

const SUBJECT = fileURLToPath(new URL('walk/subject.ts', import.meta.url));
const CALLS = {
  read: { action: 'read', params: [[1]], keyword: { fields: ['name'] } },
  'search-read': { action: 'search_read', params: [[]], keyword: { fields: ['name'], limit: 5 } },
} as const;
/** Number of requests before the measured one, so that code which only the first requests run does not count. */
const WARM_REQUESTS = 30;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { files: { type: 'boolean', default: false } },
});
const sandbox = await startSandbox({ version: 18 });
const deliveries = new EventEmitter();
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    response.end();
    deliveries.emit('delivery');
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const { admin } = sandbox.users;
const subject = fork(SUBJECT, { execArgv: [] });
subject.on('exit', (code) => process.exit(code ?? 0));
const started = await ask<{ url: string; key: string; adminToken: string }>(subject, {
  start: {
    allow: `${sandbox.url},${receiverUrl}`,
    instance: {
      name: 'prod',
      url: sandbox.url,
      db: sandbox.db,
      user_id: admin.userId,
      api_key: admin.apiKey,
    },
    receiverUrl,
  },
});

/** One request of each kind; each resolves once its answer has been read whole. */
const REQUESTS: Record<string, () => Promise<unknown>> = {
  read: () => execute(CALLS.read),
  'search-read': () => execute(CALLS['search-read']),
  search_records: () =>
    post('/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'search_records', arguments: { model: 'res.partner', fields: ['name'], limit: 5 } },
    }),
  export: () =>
    post('/api/erp/export', {
      model_id: 'res.partner',
      fields: ['name'],
      erp_instance: { name: 'prod' },
    }),
  webhook: deliverChange,
  'create-key': () => post('/admin/v1/keys', { name: `walk-${Math.random()}` }, started.adminToken),
};

const wanted = positionals.length > 0 ? positionals : Object.keys(REQUESTS);
for (const name of wanted) {
  const run = REQUESTS[name];
  if (run === undefined)
    throw new Error(`Unknown request ${name}; there are ${Object.keys(REQUESTS).join(', ')}.`);
  // A delivery takes seconds, because the proxy reads changes only every five seconds.
  const warmRequests = name === 'webhook' ? 1 : WARM_REQUESTS;
  for (let request = 0; request < warmRequests; request++) await run();
  await ask(subject, { reset: true });
  await run();
  const { files } = await ask<Walked>(subject, { take: true });
  const names = Object.keys(files).sort();
  const functions = names.reduce((sum, file) => sum + (files[file] ?? 0), 0);
  process.stdout.write(
    `${name.padEnd(16)} ${String(names.length).padStart(4)} files ${functions} functions\n`,
  );
  if (values.files)
    for (const file of names) process.stdout.write(`  ${String(files[file]).padStart(3)} ${file}\n`);
}
subject.kill();
receiver.close();
await sandbox.close();

/** Changes a record, and waits until the receiver has it. */
async function deliverChange(): Promise<void> {
  await ask(subject, { subscribe: true });
  const delivered = once(deliveries, 'delivery');
  const transaction = sandbox.begin();
  transaction.write('res.partner', 1, { name: `Walk ${Math.random()}` });
  transaction.commit();
  await delivered;
}

async function ask<Answer>(child: ChildProcess, message: object): Promise<Answer> {
  child.send(message);
  const [answer] = await once(child, 'message');
  return answer as Answer;
}

function execute(call: object): Promise<void> {
  return post('/api/erp/execute', {
    id: 1,
    model_id: 'res.partner',
    erp_instance: { name: 'prod' },
    ...call,
  });
}

async function post(path: string, body: object, key: string = started.key): Promise<void> {
  const response = await fetch(started.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-proxy-api': key,
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok || text.includes('"error"'))
    throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
}
