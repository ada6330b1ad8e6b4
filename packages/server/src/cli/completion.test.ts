/** The completion scripts, each run in its shell if that is installed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SETTING_NAMES } from '../config/names.ts';
import { COMMANDS } from './commands.ts';
import { runCommandLine } from './run.ts';
import { recordSurroundings } from './surroundings.fixture.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const isInstalled = (shell: string) => spawnSync(shell, ['-c', ':']).status === 0;

async function render(
  ...args: string[]
): Promise<ReturnType<typeof recordSurroundings> & { status: number }> {
  const surroundings = recordSurroundings();
  const options = { argv: ['completion', ...args], env: {}, cwd: '/nowhere', version: '1.2.3' };
  const readFile = () => {
    throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  };
  const status = await runCommandLine({ ...options, readFile }, surroundings);
  return Object.assign(surroundings, { status });
}

test.each(SHELLS)('%s: the script has every command, option and setting', async (shell) => {
  const { status, stdout } = await render(shell);
  expect(status).toBe(0);
  const names = COMMANDS.flatMap(({ name, options }) => [...name.split(' '), ...Object.keys(options)]);
  for (const name of [...names, ...SETTING_NAMES]) expect(stdout, name).toContain(name);
});

test('an unknown shell is an error that lists the shells', async () => {
  expect(await render('tcsh')).toMatchObject({ status: 2, stderr: 'The shell is one of bash, zsh, fish.\n' });
  expect(await render()).toMatchObject({ status: 2, stderr: expect.stringContaining('<bash|zsh|fish>') });
});

describe.each(SHELLS)('%s', (shell) => {
  test.skipIf(!isInstalled(shell))('accepts the script', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-completion-'));
    const file = join(folder, `script.${shell}`);
    writeFileSync(file, (await render(shell)).stdout);
    // From a file: some versions of fish read no script from standard input.
    expect(execFileSync(shell, ['-n', file], { encoding: 'utf8' })).toBe('');
    rmSync(folder, { recursive: true });
  });
});

describe.skipIf(!isInstalled('bash'))('in bash', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'erp-proxy-completion-'));
    writeFileSync(join(folder, 'completion.bash'), (await render('bash')).stdout);
    writeFileSync(join(folder, 'a call.json'), '');
    writeFileSync(join(folder, 'abc.yaml'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The completions of bash after the words, the last of which is incomplete. */
  const complete = (...words: string[]): string[] => {
    // Split like bash: COMP_WORDBREAKS contains `=`.
    const split = ['erp-proxy', ...words]
      .flatMap((word) => word.split(/(=)/))
      .filter((word, at, all) => word !== '' || at === all.length - 1);
    const script =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's
      'source completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _erp_proxy; printf "%s\\n" "${COMPREPLY[@]}"';
    const printed = execFileSync('bash', ['--norc', '-eu', '-c', script, 'bash', ...split], {
      cwd: folder,
      encoding: 'utf8',
    });
    return printed.split('\n').filter((line) => line !== '');
  };

  test.each<[string[], string[]]>([
    [['s'], ['serve', 'sandbox', 'status', 'store', 'subjects', 'subscriptions']],
    [['ke'], ['keys']],
    [
      ['keys', 'r'],
      ['revoke', 'rotate'],
    ],
    [
      ['keys', 'list', '--st'],
      ['--state', '--store.url'],
    ],
    [
      ['keys', 'list', '--state', ''],
      ['active', 'expired', 'revoked'],
    ],
    [['keys', 'list', '--state', 'e'], ['expired']],
    [['keys', 'list', '--state=e'], ['expired']],
    [
      ['keys', 'list', '--state='],
      ['active', 'expired', 'revoked'],
    ],
    [['keys', 'list', '--search', 'x', '--jso'], ['--json']],
    [['--log.level', 'debug', 'keys', 'sh'], ['show']],
    [['--log.level=debug', 'keys', 'sh'], ['show']],
    [['serve', '--log.level', 'f'], ['fatal']],
    [['serve', '--http.po'], ['--http.port']],
    [
      ['apply', '-f', 'a'],
      ['a call.json', 'abc.yaml'],
    ],
    [['apply', '--file', 'ab'], ['abc.yaml']],
    [
      ['call', 'a'],
      ['a call.json', 'abc.yaml'],
    ],
    [['keys', 'show', ''], []],
    [['keys', 'create', '--name', ''], []],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['instances', 'add', 'x', '--protocol', 'j'],
      ['jsonrpc', 'json2'],
    ],
    [['nonsense', ''], []],
  ])('%j offers %j', (words, offered) => {
    // The order of files is that of the file system.
    expect(complete(...words).sort()).toEqual(offered.toSorted());
  });

  test('completes the first word of every command', () => {
    const firsts = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]));
    expect(complete('').sort()).toEqual([...firsts, '--help', '--version'].sort());
  });
});
