/** Tests docs/audit.md: the audit in a file and at a collector, and the command that compares it with the store. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explainContradictions } from '../../src/config/explain-settings.ts';
import { SETTINGS, startAdmin } from '../admin/admin-client.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { runCommand } from '../commands/run-command.ts';
import { makeSettings, send } from '../harness.ts';
import { startCollector } from '../traces/collector.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-sinks-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  return folder;
}

async function start(folder: string, settings: Record<string, string>, clock = Date.now) {
  const url = `sqlite:${join(folder, 'proxy.db')}`;
  const admin = await startAdmin({ settings: { ...SETTINGS, 'store.url': url, ...settings }, clock });
  return {
    ...admin,
    async record(count: number): Promise<number> {
      for (let at = 0; at < count; at++) await admin.post('/keys', { name: `key ${at}` });
      await admin.proxy.app.audit.flush();
      return (await admin.proxy.app.store.audit.readHead())?.seq ?? 0;
    },
  };
}

const countLines = (path: string) => readFileSync(path, 'utf8').split('\n').length - 1;

test('a file gets the audit while the proxy runs, and the command compares it', async () => {
  const folder = makeFolder();
  const path = join(folder, 'audit.ndjson');
  const { record, proxy, get } = await start(folder, { 'audit.sink': 'file', 'audit.sinkPath': path });
  const last = await record(5);
  await expect.poll(() => countLines(path)).toBe(last);
  expect((await get('/status')).json.checks.audit_sink).toEqual({ state: 'ok', detail: null });
  await proxy.app.audit.flush();
  const env = { ERP_PROXY_AUDIT_SINK: 'file', ERP_PROXY_AUDIT_SINK_PATH: path };
  await proxy.close();
  const compare = (...args: string[]) => runCommand(['audit', 'compare', ...args], { folder, env });
  const found = await compare('audit.ndjson', '--json');
  expect(found.status, found.stderr).toBe(0);
  expect(JSON.parse(found.stdout)).toMatchObject({ matches: true, first_seq: 1, fault: null });
  expect((await compare('audit.ndjson')).stdout).toMatch(
    /^Records 1 to \d+ of the sink are those of the audit/,
  );

  const lines = readFileSync(path, 'utf8');
  writeFileSync(path, lines.replace('key.create', 'key.revoke'));
  const changed = await compare('audit.ndjson');
  expect([changed.status, changed.stdout]).toEqual([
    1,
    expect.stringMatching(/^They differ, at line \d+, record \d+:/),
  ]);
  writeFileSync(path, `${lines.split('\n').slice(0, 3).join('\n')}\n`);
  expect((await compare('audit.ndjson')).stdout).toMatch(/has said to have taken the records up to/);
  const missing = await compare('nothing.ndjson');
  expect([missing.status, missing.stderr]).toEqual([
    1,
    expect.stringContaining('nothing.ndjson: there is no such file'),
  ]);
});

test.each(['http/json', 'http/protobuf'])('a collector gets the audit as logs: %s', async (protocol) => {
  const folder = makeFolder();
  const collector = closeAfterTest(await startCollector());
  const { record, proxy } = await start(folder, {
    'audit.sink': 'otlp',
    'otel.endpoint': collector.url,
    'otel.traces': 'false',
    'otel.protocol': protocol,
  });
  const last = await record(3);
  const name = `otlp ${collector.url}`;
  await expect.poll(async () => (await proxy.app.store.audit.readSink(name))?.seq).toBe(last);
  await proxy.close();
  expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(['/v1/logs']));
  if (protocol !== 'http/json') return;
  // A collector that writes what it gets to a file has one request a line.
  writeFileSync(join(folder, 'logs.json'), collector.requests.map(({ body }) => `${body}\n`).join(''));
  const found = await runCommand(['audit', 'compare', 'logs.json', '--json'], { folder });
  expect(found.status, found.stdout).toBe(0);
  expect(JSON.parse(found.stdout)).toMatchObject({ matches: true, first_seq: 1 });
});

test.each([
  ['refuses', 403, '', /the collector answered 403/],
  ['takes a part only', 200, '{"partialSuccess":{"rejectedLogRecords":"1"}}', /rejected 1 items/],
  ['is another server', 200, '<html>', /not one of a collector/],
])(
  'a collector that %s loses nothing: it is asked again, and an operator learns of it',
  async (_, status, body, says) => {
    const folder = makeFolder();
    let isWell = false;
    const collector = closeAfterTest(
      await startCollector((response) =>
        response
          .writeHead(isWell ? 200 : status, { 'content-type': 'application/json' })
          .end(isWell ? '{}' : body),
      ),
    );
    const settings = { 'audit.sink': 'otlp', 'otel.endpoint': collector.url, 'otel.traces': 'false' };
    const { record, proxy, get } = await start(folder, { ...settings, 'otel.protocol': 'http/json' });
    await record(2);
    const check = async () => (await get('/status')).json.checks.audit_sink;
    await expect.poll(check).toMatchObject({ state: 'degraded', detail: expect.stringMatching(says) });
    expect((await get('/attention')).json.items).toContainEqual(
      expect.objectContaining({ kind: 'check_failed', target: 'check audit_sink' }),
    );
    expect(await proxy.app.store.audit.readSink(`otlp ${collector.url}`)).toBeNull();
    isWell = true;
    await expect.poll(check).toEqual({ state: 'ok', detail: null });
    const messages = proxy.log.map(({ msg }) => msg).filter((msg) => /^audit .*sent/.test(String(msg)));
    expect(messages).toEqual(['audit not sent', 'audit sent again']);
  },
);

test('a file that cannot be written is reported, and calls run', async () => {
  const folder = makeFolder();
  const path = join(folder, 'missing', 'audit.ndjson');
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;
  const { record, get, proxy } = await start(folder, { 'audit.sink': 'file', 'audit.sinkPath': path }, clock);
  await record(1);
  const check = async () => (await get('/status')).json.checks.audit_sink.state;
  await expect.poll(check).toBe('degraded');
  aheadMs = 3600_000;
  const readLag = async () => {
    const { body } = await send(`${proxy.url}/metrics`);
    return Number(/^erp_proxy_audit_sink_lag_seconds (\d+)$/m.exec(body.toString())?.[1]);
  };
  expect(await readLag()).toBeGreaterThanOrEqual(3600);
  mkdirSync(join(folder, 'missing'));
  await expect.poll(check).toBe('ok');
  expect(await readLag()).toBe(0);
  await expect.poll(() => countLines(path)).toBeGreaterThan(0);
});

test('settings that contradict each other are refused', () => {
  const explain = (settings: Record<string, string>) => explainContradictions(makeSettings(settings));
  expect(explain({ 'audit.sink': 'file' })).toEqual([expect.stringContaining('audit.sinkPath is empty')]);
  expect(explain({ 'audit.sink': 'otlp' })).toEqual([expect.stringContaining('otel.endpoint is empty')]);
  const endpoint = { 'otel.endpoint': 'http://localhost:4318/otlp' };
  expect(explain({ 'audit.sink': 'otlp', ...endpoint })).toEqual([expect.stringContaining('/v1/traces')]);
  expect(explain({ 'audit.sink': 'otlp', 'otel.endpoint': 'http://localhost:4318' })).toEqual([]);
});
