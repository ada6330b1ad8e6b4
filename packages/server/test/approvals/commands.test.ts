/** Tests the commands `approvals …`, on the store and on a running proxy. docs/approvals.md shows their usual use. */
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import { recordSurroundings } from '../../src/cli/surroundings.fixture.ts';
import { readTextFile } from '../../src/config/read-text-file.ts';
import { makeFolder } from '../process/program.ts';
import { startApprover } from './approver.ts';

const TOKEN = 'an-admin-token-of-more-than-32-characters';

describe.each(['on the store', 'on a running proxy'] as const)('%s:', (where) => {
  async function start() {
    const url = where === 'on the store' ? `sqlite:${makeFolder()}/store.db` : 'memory:';
    const approver = await startApprover({ settings: { 'store.url': url, 'admin.token': TOKEN } });
    const run = (...args: string[]) => runAny('approvals', ...args);
    const runAny = async (...args: string[]) => {
      const surroundings = recordSurroundings({
        isTerminal: true,
        // The text of the call, in place of a file.
        readInput: async (text) => Buffer.from(text),
      });
      const status = await runCommandLine(
        {
          argv: [...args, ...(where === 'on the store' ? [] : ['--url', approver.proxy.url])],
          env: { ERP_PROXY_STORE_URL: url, ERP_PROXY_ADMIN_TOKEN: TOKEN },
          cwd: '/',
          readFile: readTextFile,
          version: '1.2.3',
        },
        surroundings,
      );
      const stderr = surroundings.stderr.replace(/^Store: .*\n/, '');
      return { status, stdout: surroundings.stdout, stderr };
    };
    return { ...approver, run, runAny };
  }

  test('list shows what waits, and other states on demand', async () => {
    const { ask, run, unlink } = await start();
    expect(await run('list')).toEqual({ status: 0, stdout: '', stderr: 'No call waits for an approval.\n' });
    const [first, second] = [await ask(), await ask(unlink({ params: [[8]] }))];
    expect((await run('approve', first)).stdout).toMatch(/^Approved: account\.move\.unlink can be sent once/);
    const { stdout } = await run('list');
    expect(stdout).toMatch(new RegExp(`^ID .*\\n${second} +pending +account\\.move\\.unlink `));
    expect(stdout).not.toContain(first);
    expect((await run('list', '--state', 'all')).stdout.trim().split('\n')).toHaveLength(3);
    const listed = JSON.parse((await run('list', '--state', 'approved', '--json')).stdout);
    expect(listed).toEqual([expect.objectContaining({ id: first, state: 'approved' })]);
    expect(await run('list', '--state', 'open')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--state is one of pending,'),
    });
  });

  test('show prints the values, with characters that deceive a reader as escapes', async () => {
    const { ask, run, unlink } = await start();
    const id = await ask(unlink({ keyword: { note: 'a\u202Eb\u200Bc\u2028d🙂é' } }));
    const { stdout } = await run('show', id);
    expect(stdout).toContain('params        [[7]]\n');
    expect(stdout).toContain(String.raw`keyword       {"note":"a\u202eb\u200bc\u2028d🙂é"}`);
    expect(stdout).toMatch(/^state +pending$/m);
    await run('refuse', id, '--reason', 'No.');
    const refused = (await run('show', id)).stdout;
    expect(refused).toMatch(/^reason +No\.$/m);
    expect(refused).toMatch(/^call +deleted$/m);
  });

  test('a decision is reported with its actor, and a wrong use says what to do', async () => {
    const { ask, run, admin } = await start();
    const id = await ask();
    expect(await run('refuse', id)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Give --reason'),
    });
    expect((await run('refuse', id, '--reason', 'a\nb')).status).not.toBe(0);
    expect((await run('approve', '0'.repeat(24))).stderr).toMatch(/There is no approval/);
    expect((await run('approve', id)).status).toBe(0);
    expect((await run('approve', id)).status).toBe(0);
    expect((await run('refuse', id, '--reason', 'late')).stderr).toMatch(/It is approved by/);
    const by = where === 'on the store' ? /^cli:/ : /^token$/;
    expect((await admin.getApproval(id)).decided_by?.id).toMatch(by);
  });

  test('keys explain says that a call needs an approval', async () => {
    const { runAny, client, unlink } = await start();
    const { status, stdout } = await runAny(
      'keys',
      'explain',
      `--key=${client.id}`,
      `--call=${JSON.stringify(unlink())}`,
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/^allowed by models\["\*"\]: .* only after an administrator has approved it/);
    expect(stdout).toContain('  needs an approval by approve["*"]\n');
  });
});
