/** Tests the commands `connections …` and `persons …`, on the store and on a running proxy. */
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import { recordSurroundings } from '../../src/cli/surroundings.fixture.ts';
import { readTextFile } from '../../src/config/read-text-file.ts';
import { Browser, describeOperators, startScriptedProvider } from '../operators/scripted-provider.ts';
import { makeFolder } from '../process/program.ts';
import { ADMIN_TOKEN, MASTER_KEY, startStage } from './stage.ts';

const RULES = [{ claim: 'groups', value: 'erp-admins', role: 'operator', instances: ['prod', 'client-*'] }];

describe.each(['on the store', 'on a running proxy'] as const)('%s:', (where) => {
  async function start() {
    const isLocal = where === 'on the store';
    const provider = await startScriptedProvider();
    const operators: Record<string, string> = {
      ...describeOperators(provider),
      'operators.rules': JSON.stringify(RULES),
    };
    const storeUrl = isLocal ? `sqlite:${makeFolder()}/store.db` : 'memory:';
    const stage = await startStage({
      settings: { ...operators, 'auth.issuers': '[]', 'store.url': storeUrl },
    });
    const run = async (...argv: string[]) => {
      const surroundings = recordSurroundings({ isTerminal: true });
      const settings = Object.entries(operators).map(([name, value]) => `--${name}=${value}`);
      const status = await runCommandLine(
        {
          argv: [...argv, ...(isLocal ? settings : ['--url', stage.proxy.url])],
          env: {
            ERP_PROXY_STORE_URL: storeUrl,
            ERP_PROXY_ADMIN_TOKEN: ADMIN_TOKEN,
            ERP_PROXY_VAULT_MASTER_KEY: MASTER_KEY,
          },
          cwd: '/',
          readFile: readTextFile,
          version: '1.2.3',
        },
        surroundings,
      );
      return { status, stdout: surroundings.stdout, stderr: surroundings.stderr.replace(/^Store: .*\n/, '') };
    };
    const instance = (await stage.proxy.app.instances.find('prod'))!;
    const put = (sub: string) =>
      stage.proxy.app.connections.put(instance, {
        person: `corp/${sub}`,
        login: `${sub}@example.com`,
        userId: 7,
        apiKey: 'odoo-secret-of-this-test',
        keyExpiresAt: null,
      });
    return { ...stage, provider, run, put };
  }

  test('connections are listed by instance and person, and removed with a record', async () => {
    const { run, put, proxy } = await start();
    expect(await run('connections', 'list')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringMatching(/^No person has connected/),
    });
    await put('ada');
    await put('bob');
    const { stdout } = await run('connections', 'list');
    expect(stdout).toMatch(/^INSTANCE +PERSON .*\nprod +corp\/ada +connected +ada@example\.com /);
    expect(stdout).not.toContain('odoo-secret');
    const listed = await run('connections', 'list', '--person', 'corp/bob', '--instance', 'prod', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ person: 'corp/bob', login: 'bob@example.com' }]);
    expect((await run('connections', 'list', '--instance', 'other')).stdout).toBe('');

    expect(await run('connections', 'remove', 'prod', 'corp/ada')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^The connection of corp\/ada to prod is removed/),
    });
    expect(await run('connections', 'remove', 'prod', 'corp/ada')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('"corp/ada" has no connection to "prod"'),
    });
    await expect.poll(async () => proxy.app.connections.get('corp/ada', 'prod')).toBeNull();
    await proxy.app.audit.flush();
    const { items } = await proxy.app.audit.search({ action: 'connection.remove' });
    expect(items).toMatchObject([{ target: 'connection prod corp/ada' }]);
  });

  test('persons are listed with what the rules give them, and signed out', async () => {
    const { run, provider, proxy } = await start();
    expect((await run('persons', 'list')).stderr).toMatch(/^Nobody has signed in yet/);
    provider.claims = { sub: 'ada' };
    const browser = new Browser(proxy);
    await browser.signIn();
    expect((await browser.session()).status).toBe(200);
    expect((await run('persons', 'list')).stdout).toMatch(
      /^PERSON .*\ncorp\/ada +active +operator +prod client-\* .* +Ada Lovelace *\n$/,
    );
    expect(await run('persons', 'sign-out', 'corp/ada')).toMatchObject({
      status: 0,
      stdout: 'The sessions of corp/ada have ended.\n',
    });
    expect((await browser.session()).status).toBe(401);
    await browser.signIn();
    expect((await browser.session()).status).toBe(200);
    expect(await run('persons', 'sign-out', 'corp/eve')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('"corp/eve" has never signed in here'),
    });
    await proxy.app.audit.flush();
    const { items } = await proxy.app.audit.search({ action: 'person.sign-out' });
    expect(items).toMatchObject([{ target: 'person corp/ada' }]);
  });
});
