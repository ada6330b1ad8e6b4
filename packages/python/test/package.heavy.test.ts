/** Runs the tests that are written in Python, and builds, installs and uses the wheel. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { hasCommand, runProgram, startShop } from '../../server/test/examples/shop.ts';
import { makeFolder } from '../../server/test/process/program.ts';
import { PACKAGE, PYTHON_ENV } from './python.ts';

const run = (command: string, ...args: string[]) =>
  promisify(execFile)(command, args, { cwd: PACKAGE, env: PYTHON_ENV });
const client = JSON.parse(readFileSync(join(PACKAGE, '../client/package.json'), 'utf8')) as {
  version: string;
};
const WHEEL = `erp_proxy-${client.version}-py3-none-any.whl`;

const USE = `
import asyncio, importlib.metadata, erp_proxy

async def count():
    async with erp_proxy.AsyncClient() as client:
        return await client.model("res.partner").count()

with erp_proxy.Client() as client:
    assert client.model("res.partner").count() == asyncio.run(count()) > 0
print(importlib.metadata.version("erp-proxy"), importlib.metadata.requires("erp-proxy"), erp_proxy.__file__)
`;

describe.skipIf(!hasCommand('python3'))('the Python client (skipped where python3 is not installed)', () => {
  test('passes its tests', async () => {
    const { stderr } = await run('python3', '-m', 'unittest', 'discover', '-s', 'test');
    expect(stderr).toMatch(/\nOK\s*$/);
  });

  test('is installed from its wheel, whose bytes depend on the sources alone, and needs nothing else', async () => {
    const folder = makeFolder();
    await run('python3', 'build_backend.py', join(folder, 'one'));
    await run('python3', 'build_backend.py', join(folder, 'other'));
    const [one, other] = ['one', 'other'].map((name) => readFileSync(join(folder, name, WHEEL)));
    expect(one?.equals(other as Buffer)).toBe(true);
    const venv = join(folder, 'venv');
    await run('python3', '-m', 'venv', '--without-pip', venv);
    const python = join(venv, 'bin/python');
    const { stdout: site } = await run(python, '-c', 'import site; print(site.getsitepackages()[0])');
    // Installers unpack a wheel of pure Python.
    await run(python, '-m', 'zipfile', '-e', join(folder, 'one', WHEEL), site.trim());
    const shop = closeAfterTest(await startShop());
    const ran = await runProgram([python, '-I', '-c', USE], shop);
    expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' });
    expect(ran.stdout).toBe(`${client.version} None ${site.trim()}/erp_proxy/__init__.py\n`);
  });
});
