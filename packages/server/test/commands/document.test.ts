/** Tests `erp-proxy document`: the file that it writes, and its errors. */
import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import { recordSurroundings } from '../../src/cli/surroundings.fixture.ts';
import { startSandboxStage } from '../export/export-stage.ts';

interface Ran {
  status: number;
  stderr: string;
  /** What was written, by path. */
  files: Record<string, Buffer>;
}

async function run({ url, key }: { url: string; key: string }, args: readonly string[]): Promise<Ran> {
  const files: Record<string, Buffer> = {};
  const surroundings = recordSurroundings({
    async writeFile(path, content) {
      files[path] = Buffer.from(content);
    },
  });
  const status = await runCommandLine(
    {
      argv: ['document', ...args],
      env: { ERP_PROXY_URL: url, ERP_PROXY_KEY: key, ERP_PROXY_INSTANCE: 'prod' },
      cwd: '/',
      readFile: () => {
        throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      },
      version: '1.2.3',
    },
    surroundings,
  );
  return { status, stderr: surroundings.stderr, files };
}

const ORDER = ['--model', 'sale.order', '--output', 'out.bin'];

test('writes the PDF of a record, and the archive of several', async () => {
  const { proxy } = await startSandboxStage();
  const pdf = await run(proxy, [...ORDER, '--record', '1', '--report', 'PDF Quote', '--timeout', '60']);
  expect(pdf).toMatchObject({ status: 0, stderr: '' });
  expect(pdf.files['out.bin']!.toString('latin1')).toMatch(/^%PDF-/);
  const archive = await run(proxy, [...ORDER, '--records', '1, 2']);
  expect(archive.files['out.bin']!.toString('latin1', 0, 2)).toBe('PK');
});

test('an error writes no file, and says what is wrong', async () => {
  const { proxy } = await startSandboxStage();
  const missing = await run(proxy, [...ORDER, '--record', '99999']);
  expect(missing).toMatchObject({ status: 1, files: {} });
  expect(missing.stderr).toMatch(/^record_missing: /);
  const unknown = await run(proxy, [...ORDER, '--record', '1', '--report', 'x']);
  expect(unknown.stderr).toMatch(/^invalid_params: `report` is unknown/);
  const refused = await run({ ...proxy, key: 'ep_wrong' }, [...ORDER, '--record', '1']);
  expect(refused.stderr).toMatch(/^unauthorized: /);
});

test.each([
  [['--model', 'sale.order', '--record', '1'], '--output is missing'],
  [[...ORDER], 'Give --record, or --records'],
  [[...ORDER, '--record', '1', '--records', '2'], 'Give --record, or --records'],
  [[...ORDER, '--record', 'x'], '"x" is not the id of a record'],
  [[...ORDER, '--records', '1,,2'], '"" is not the id of a record'],
  [['--output', 'a', '--record', '1'], '--model is missing'],
])('refuses %j', async (args, message) => {
  const ran = await run({ url: 'http://127.0.0.1:9', key: 'ep_x' }, args);
  expect(ran).toMatchObject({ status: 2, files: {} });
  expect(ran.stderr).toContain(message);
});
