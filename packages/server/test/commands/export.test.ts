/** Tests `erp-proxy export`: its output, and how it continues after a broken connection. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import { recordSurroundings } from '../../src/cli/surroundings.fixture.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { readIds, readRecords, startSandboxStage } from '../export/export-stage.ts';
import { MOMENT_MS, passTurns } from '../time.ts';

interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

async function run(
  { url, key }: { url: string; key: string },
  args: readonly string[],
  isErrorTerminal = false,
): Promise<Ran> {
  const surroundings = recordSurroundings({ isErrorTerminal });
  const status = await runCommandLine(
    {
      argv: ['export', ...args],
      env: { ERP_PROXY_URL: url, ERP_PROXY_KEY: key },
      cwd: '/',
      readFile: () => {
        throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      },
      version: '1.2.3',
    },
    surroundings,
  );
  const { stdout, stderr } = surroundings;
  return { status, stdout, stderr };
}

/** Runs the command, but the pauses between its attempts pass quickly. */
async function runQuickly(...given: Parameters<typeof run>): Promise<Ran> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldClearNativeTimers: true });
  try {
    let isOver = false;
    const ran = run(...given).finally(() => {
      isOver = true;
    });
    for (; !isOver; await passTurns()) vi.advanceTimersByTime(MOMENT_MS);
    return await ran;
  } finally {
    vi.useRealTimers();
  }
}

const PARTNERS = ['--instance', 'prod', '--model', 'res.partner'];
const COMPANIES = ['--domain', '[["is_company", "=", true]]'];

test('prints the records of the export, in both formats', async () => {
  const stage = await startSandboxStage();
  const { proxy } = stage;
  const body = { domain: [['is_company', '=', true]], fields: ['name', 'country_id'] };
  const args = [...PARTNERS, ...COMPANIES, '--fields', 'name, country_id'];
  const printed = await run(proxy, args);
  expect(printed).toEqual({ status: 0, stdout: (await stage.export(body)).text, stderr: '' });
  const csv = await run(proxy, [...args, '--format', 'csv']);
  expect(csv.stdout).toBe((await stage.export({ ...body, format: 'csv' })).text);
  const ids = readIds({ text: printed.stdout });
  const some = await run(proxy, [...args, '--after', String(ids[1]), '--limit', '2']);
  expect(readIds({ text: some.stdout })).toEqual(ids.slice(2, 4));
  const normalized = await run(proxy, [...args, '--limit', '1', '--values', 'normalized']);
  expect(readRecords({ text: normalized.stdout })[0].country_id).toHaveProperty('id');
  const context = await run(proxy, [...args, '--context', '{"lang": "en_US"}', '--timeout', '5']);
  expect(context.stdout).toBe(printed.stdout);
});

test('prints CSV in the form that is asked for', async () => {
  const stage = await startSandboxStage();
  const { proxy } = stage;
  const args = [...PARTNERS, '--fields', 'name,phone', '--limit', '3', '--format', 'csv'];
  const body = { fields: ['name', 'phone'], limit: 3, format: 'csv' };
  const form = ['--bom', '--delimiter', 'tab', '--no-escape-formulas'];
  const given = { bom: true, delimiter: '\t', escape_formulas: false };
  const printed = await run(proxy, [...args, ...form]);
  expect(printed.stdout).toBe((await stage.export({ ...body, ...given })).text);
  expect(printed.stdout).toMatch(/^\ufeffid\tname\tphone\r\n1\tYourCompany\t\+1 /);
  expect((await run(proxy, args)).stdout).toMatch(/^id,name,phone\r\n1,YourCompany,'\+1 /);
  for (const [wrong, problem] of [
    [[...args, '--delimiter', 'x'], /^--delimiter "x" must be/],
    [[...PARTNERS, '--fields', 'name', '--bom'], /^--bom is for --format csv only/],
  ] as const)
    expect(await run(proxy, wrong)).toMatchObject({ status: 2, stderr: expect.stringMatching(problem) });
});

test('a proxy without exports', async () => {
  const { proxy } = await startSandboxStage();
  // No route for exports exists under this path.
  const url = `${proxy.url}/older`;
  expect(await run({ url, key: proxy.key }, [...PARTNERS, '--fields', 'name'])).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The proxy does not know this request: it has another version /),
  });
});

test('errors before the first record', async () => {
  const { proxy } = await startSandboxStage();
  const wrong = await run(proxy, [...PARTNERS, '--fields', 'nmae']);
  expect(wrong).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/^query_invalid: /) });
  const cases: [args: string[], problem: RegExp][] = [
    [[], /^--instance is missing.*config export/],
    [PARTNERS, /^--fields is missing/],
    [[...PARTNERS, '--fields', 'name', '--domain', '{}'], /^--domain must be an array/],
    [[...PARTNERS, '--fields', 'name', '--domain', '[['], /^--domain must be an array/],
    [[...PARTNERS, '--fields', 'name', '--context', '[]'], /^--context must be an object/],
    [[...PARTNERS, '--fields', 'name', '--after', '1.5'], /^--after "1.5" is not an id/],
    [[...PARTNERS, '--fields', 'name', '--limit', '0'], /^--limit "0"/],
    [[...PARTNERS, '--fields', 'name', '--format', 'xml'], /^--format "xml" must be/],
    [[...PARTNERS, '--fields', 'name', '--values', 'odoo'], /^--values "odoo" must be/],
    [[...PARTNERS, '--fields', 'name', '--timeout', 'x'], /^--timeout "x"/],
  ];
  for (const [args, problem] of cases)
    expect(await run(proxy, args)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(problem),
    });
});

const NDJSON = (id: number) => `{"id": ${id}, "name": "é"}\n`;
/** A quoted cell with a line break. */
const CSV = (id: number) => `${id},"a\r\n""é"\r\n`;

/** Gives some records in each request, then breaks off within the next one, until all ten are given. */
async function startFlaky(perRequest: number, format: 'ndjson' | 'csv') {
  const bodies: { after?: number; limit?: number }[] = [];
  const print = format === 'csv' ? CSV : NDJSON;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const body = JSON.parse(text) as { after?: number; limit?: number };
    bodies.push(body);
    const first = (body.after ?? 0) + 1;
    const last = Math.min(10, first + perRequest - 1);
    response.writeHead(200, { 'content-type': format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
    if (format === 'csv') response.write('id,name\r\n');
    for (let id = first; id <= last; id++) response.write(print(id));
    if (last === 10) response.end();
    else response.write(print(last + 1).slice(0, -3), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

test.each(['ndjson', 'csv'] as const)(
  'goes on behind the last whole record after a broken connection, as %s',
  async (format) => {
    const { url, bodies } = await startFlaky(4, format);
    const args = [...PARTNERS, '--fields', 'name', '--format', format, '--limit', '10'];
    const ran = await runQuickly({ url, key: 'ep_test' }, args);
    const print = format === 'csv' ? CSV : NDJSON;
    const all = Array.from({ length: 10 }, (_, index) => print(index + 1)).join('');
    expect(ran).toEqual({ status: 0, stderr: '', stdout: format === 'csv' ? `id,name\r\n${all}` : all });
    expect(bodies.map(({ after, limit }) => [after, limit])).toEqual([
      [undefined, 10],
      [4, 6],
      [8, 2],
    ]);
  },
);

test('says how to go on if the connection keeps breaking', async () => {
  const { url, bodies } = await startFlaky(0, 'ndjson');
  const ran = await runQuickly({ url, key: 'ep_test' }, [
    ...PARTNERS,
    '--fields',
    'name',
    '--after',
    '3',
    '--retries',
    '1',
  ]);
  expect(ran).toEqual({
    status: 1,
    stdout: '',
    stderr: 'The connection was closed. Go on with --after 3.\n',
  });
  expect(bodies).toHaveLength(2);
});

test('shows a line of progress if standard error is a terminal', async () => {
  const { proxy } = await startSandboxStage();
  const { stderr } = await run(proxy, [...PARTNERS, '--fields', 'name'], true);
  expect(stderr).toContain(' records, ');
  expect(stderr).toMatch(/\/s\n$/);
});
