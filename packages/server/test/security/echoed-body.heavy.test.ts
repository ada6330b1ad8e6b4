/**
 * Tests that if a server echoes the body of a request, with the key in it, the echo appears in no answer, log, metric,
 * audit record or output of a command. Odoo 14 and 15 echo it, HTML-escaped, in their 400 pages
 * (docs/odoo-facts.md#early-errors-14).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type HttpAnswer, send } from '../harness.ts';
import { makeFolder, runProgram, startServer } from '../process/program.ts';
import { makeCall, startUpstream, type UpstreamRequest } from '../scripted-upstream.ts';

/** A key with every character that HTML, JSON or Python escapes. */
const KEY = 'MARKER<e>&"y"\'-\\-0123456789abcdef';
const VALUE = 'MARKER-value';

const escapeHtml = (text: string, quote = '&#34;', apostrophe = '&#39;') =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe);
const printPage = (text: string) =>
  `<!DOCTYPE HTML>\n<title>400 Bad Request</title>\n<p>Invalid JSON data: &#39;${text}&#39;</p>\n`;
const printFault = (message: string, code = 200) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    error: {
      code,
      message,
      data: {
        name: 'odoo.exceptions.UserError',
        debug: `Traceback (most recent call last):\n${message}\nodoo.exceptions.UserError: ${message}\n`,
        message,
        arguments: [message],
        context: { [message]: message },
      },
    },
  });

interface Answer {
  status: string;
  type: string;
  body: string;
}

/** By path of the server's address: answers with echoes, which must not appear anywhere. */
const ECHOES: Record<string, (body: string) => Answer> = {
  'bad-request': (body) => ({
    status: '400 BAD REQUEST',
    type: 'text/html',
    body: printPage(escapeHtml(body)),
  }),
  'old-quotes': (body) => ({
    status: '400 BAD REQUEST',
    type: 'text/html',
    body: printPage(escapeHtml(body, '&quot;', "'")),
  }),
  'bad-request-json': (body) => ({ status: '400 BAD REQUEST', type: 'application/json', body }),
  'internal-error': (body) => ({ status: '500 Oops', type: 'text/html', body: printPage(escapeHtml(body)) }),
  'not-found': (body) => ({
    status: '404 NOT FOUND',
    type: 'application/json',
    body: printFault(escapeHtml(body), 404),
  }),
  reason: (body) => ({
    status: `400 ${escapeHtml(body).replace(/[^ -~]/g, '')}`.slice(0, 2_000),
    type: 'text/html',
    body: '',
  }),
  'success-page': (body) => ({ status: '200 OK', type: 'text/html', body: printPage(escapeHtml(body)) }),
  'success-echo': (body) => ({ status: '200 OK', type: 'application/json', body }),
  'success-cut': (body) => ({ status: '200 OK', type: 'application/json', body: body.slice(0, -2) }),
};

/** Texts of Odoo's own faults are passed on, but without the key. */
const FAULTS: Record<string, (body: string) => Answer> = Object.fromEntries(
  [
    ['fault-markupsafe', '&#34;', '&#39;'],
    ['fault-html', '&quot;', '&#x27;'],
    ['fault-old', '&quot;', "'"],
  ].map(([name = '', quote, apostrophe]) => [
    name,
    (body) => ({
      status: '200 OK',
      type: 'application/json',
      body: printFault(escapeHtml(body, quote, apostrophe)),
    }),
  ]),
);

function answerEcho({ head, body }: UpstreamRequest): string {
  const shape = /^POST \/([\w-]+)\//.exec(head)?.[1] ?? '';
  const make = ECHOES[shape] ?? FAULTS[shape] ?? ECHOES['bad-request']!;
  const answer = make(body.toString() || head);
  const length = Buffer.byteLength(answer.body);
  return `HTTP/1.0 ${answer.status}\r\nContent-Type: ${answer.type}\r\nContent-Length: ${length}\r\n\r\n${answer.body}`;
}

test('shows nothing of a body that the server echoes', async () => {
  const upstream = await startUpstream((socket, request) => void socket.end(answerEcho(request)));
  const folder = makeFolder();
  const options = [`--egress.allow=${upstream.url}`, '--errors.debug=true', '--log.level=trace'];
  const server = await startServer([...options, '--upstream.protocol=auto'], { folder });
  const { key } = JSON.parse(
    (await runProgram(['keys', 'create', '--name=echo', '--json'], { folder })).stdout,
  );
  const post = (body: unknown, path = '/api/erp/execute') =>
    send(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'x-proxy-api': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const instance = (shape: string) => ({
    url: `${upstream.url}/${shape}`,
    db: 'prod',
    user_id: 2,
    api_key: KEY,
  });
  const makeOn = (shape: string, changes = {}) =>
    makeCall(upstream.url, {
      action: 'write',
      params: [[1], { name: VALUE }],
      erp_instance: instance(shape),
      ...changes,
    });

  const answers: HttpAnswer[] = [];
  for (const shape of Object.keys(ECHOES)) {
    answers.push(
      await post(makeOn(shape)),
      await post([makeOn(shape), makeOn(shape, { action: 'read', params: [[1]] })]),
      await post({ id: 1, url: instance(shape).url }, '/api/erp/version'),
      await post(
        {
          id: '1',
          action: 'read',
          model_id: 'res.partner',
          params: [[1]],
          keyword: {},
          odoo_instance: instance(shape),
        },
        '/api/odoo/execute',
      ),
    );
  }
  const faults: HttpAnswer[] = [];
  for (const shape of Object.keys(FAULTS)) faults.push(await post(makeOn(shape, { params: [[1]] })));
  answers.push(await send(`${server.url}/metrics`), await send(`${server.url}/readyz`));

  writeFileSync(join(folder, 'key'), KEY);
  writeFileSync(join(folder, 'client-key'), key);
  writeFileSync(join(folder, 'call.json'), JSON.stringify(makeOn('bad-request')));
  const doctor = (shape: string) => [
    ...['doctor', instance(shape).url, `--egress.allow=${upstream.url}`],
    ...['--db=prod', '--user-id=2', '--api-key-file=key', '--json'],
  ];
  const commands = [
    ...Object.keys(ECHOES).map(doctor),
    ['call', 'call.json', '--url', server.url, '--key-file', 'client-key'],
  ];
  const outputs = await Promise.all(commands.map((args) => runProgram(args, { folder })));
  server.kill('SIGTERM');
  await server.ended;
  const audit = await runProgram(['audit', 'export'], { folder });
  await upstream.close();

  const show = ({ headers, body }: HttpAnswer) => JSON.stringify(headers) + body;
  for (const [where, text] of [
    ...answers.map((answer, index): [string, string] => [`answer ${index}`, show(answer)]),
    ...outputs.map((output, index): [string, string] => [`output ${index}`, JSON.stringify(output)]),
    ['log', server.stdout + server.stderr],
    ['audit', JSON.stringify(audit)],
  ] as const) {
    expect(text, where).not.toContain('MARKER');
    expect(text, where).not.toContain('0123456789abcdef');
  }
  for (const answer of faults) expect(show(answer)).not.toContain('0123456789abcdef');
  // The secrets did reach the server, so the test would find them.
  expect(upstream.requests.some(({ body }) => body.includes('0123456789abcdef'))).toBe(true);
  expect(faults[0]?.body.toString()).toContain('user_error');
  expect(audit.stdout).toContain('upstream_bad_response');
});
