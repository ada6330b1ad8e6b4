/** Tests the programs of examples/ in each language against the real proxy and a sandbox. */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { listenOnFreePort } from '../listen.ts';
import { hasCommand, type Ran, runProgram, type Shop, startShop } from './shop.ts';

const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url));
const PROGRAMS: [name: string, command: string, ...args: string[]][] = [
  ['typescript', process.execPath, `${examples}typescript/quotations.ts`],
  ['python', 'python3', `${examples}python/quotations.py`],
  ['php', 'php', `${examples}php/quotations.php`],
];

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.close());

/** Passes requests on, and cuts the first answer off in the middle. */
async function startBreakingRelay(target: string) {
  let requests = 0;
  const server = createServer(async (request, response) => {
    const headers = Object.fromEntries(
      ['content-type', 'x-proxy-api', 'idempotency-key'].map((header) => [
        header,
        String(request.headers[header]),
      ]),
    );
    const answer = await send(target + request.url, { method: 'POST', headers, body: await buffer(request) });
    requests++;
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': answer.body.length,
    });
    if (requests > 1) response.end(answer.body);
    else response.write(answer.body.subarray(0, 10), () => response.destroy());
  });
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  return { url, requests: () => requests, close: () => server.close() };
}

for (const [name, command, ...program] of PROGRAMS) {
  const isMissing = command !== process.execPath && !hasCommand(command);
  describe.skipIf(isMissing)(`${name}${isMissing ? ` (${command} is not installed)` : ''}:`, () => {
    const run = (args: string[], options: { key?: string; url?: string } = {}): Promise<Ran> =>
      runProgram([command, ...program, ...args], shop, options);

    test('lists the open quotations page by page, each once', async () => {
      const before = shop.odoo.requests.calls['sale.order.search_read'] ?? 0;
      const { status, stdout, stderr } = await run(['list']);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout.match(/^S\d+/gm)).toEqual(['S00001', 'S00002', 'S00003', 'S00005']);
      expect(stdout).toMatch(/ {2}\d+\.\d\d$/m);
      expect((shop.odoo.requests.calls['sale.order.search_read'] ?? 0) - before).toBeGreaterThan(1);
    });

    test('waits and sends again when the proxy asks for it', async () => {
      const { key } = await shop.proxy.app.keys.create({
        name: 'slow',
        policy: { instances: ['prod'], models: { 'sale.order': ['*'] }, rate: { requests: 1, seconds: 1 } },
      });
      const { status, stdout } = await run(['list'], { key });
      expect([status, stdout.match(/^S\d+/gm)?.length]).toEqual([0, 4]);
      expect(JSON.stringify(shop.proxy.log)).toContain('rate_limited');
    });

    test('creates a customer once, however often it is started', async () => {
      const created = await run(['customer', `${name}-1`, 'Zoë & Søn']);
      expect(created).toEqual({ status: 0, stdout: expect.stringMatching(/^customer \d+\n$/), stderr: '' });
      expect(await run(['customer', `${name}-1`, 'Zoë & Søn'])).toEqual(created);
      expect((await run(['customer', `${name}-2`, 'Zoë & Søn'])).stdout).not.toBe(created.stdout);
      const other = await run(['customer', `${name}-1`, 'Another']);
      expect([other.status, other.stderr]).toEqual([
        1,
        expect.stringMatching(/^idempotency_conflict: .*request /),
      ]);
    });

    test('creates a customer once, if the answer breaks off after Odoo has created it', async () => {
      const relay = await startBreakingRelay(shop.proxy.url);
      try {
        const count = () => shop.odoo.requests.calls['res.partner.create'] ?? 0;
        const before = count();
        const { status, stdout } = await run(['customer', `${name}-3`, 'Zoë & Søn'], { url: relay.url });
        expect([status, stdout]).toEqual([0, expect.stringMatching(/^customer \d+\n$/)]);
        expect([relay.requests(), count() - before]).toEqual([2, 1]);
      } finally {
        relay.close();
      }
    });

    test('explains errors by their type', async () => {
      expect(await run(['confirm', '999'])).toEqual({
        status: 1,
        stdout: '',
        stderr: 'There is no such quotation.\n',
      });
      expect((await run(['list'], { key: `${shop.proxy.key}x` })).stderr).toMatch(/^unauthorized: /);
    });

    test('says what is wrong with its start: variables, arguments, the address', async () => {
      const expectMessage = async (ran: Promise<Ran>, message: RegExp) => {
        const { status, stdout, stderr } = await ran;
        expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
        expect(stderr).toMatch(message);
        // The error is one line, without a stack trace.
        expect(stderr.match(/\n/g)).toHaveLength(1);
      };
      await expectMessage(run(['list'], { key: '' }), /ERP_PROXY_KEY/);
      await expectMessage(run(['list'], { url: '' }), /ERP_PROXY_URL/);
      await expectMessage(run([]), /^usage: /);
      await expectMessage(run(['confirm', 'S00003']), /^There is no such quotation/);
      await expectMessage(run(['list'], { url: shop.odoo.url }), new RegExp(shop.odoo.url));
      const { status } = await run(['list'], { url: `${shop.proxy.url}/` });
      expect(status).toBe(0);
    });

    test('confirms a quotation', async () => {
      shop.odoo.reset();
      expect(await run(['confirm', '3'])).toEqual({ status: 0, stdout: 'confirmed 3\n', stderr: '' });
      shop.odoo.reset();
    });
  });
}
