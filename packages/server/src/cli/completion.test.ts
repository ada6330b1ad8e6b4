/** Runs the completion scripts, each in its shell if that is installed, and checks the answers of `complete`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SETTING_NAMES } from '../config/names.ts';
import { COMMANDS } from './commands.ts';
import { runCommandLine } from './run.ts';
import { recordSurroundings } from './surroundings.fixture.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const isInstalled = (shell: string) => spawnSync(shell, ['-c', ':']).status === 0;

async function run(...argv: string[]): Promise<ReturnType<typeof recordSurroundings> & { status: number }> {
  const surroundings = recordSurroundings();
  const options = { argv, env: {}, cwd: '/nowhere', version: '1.2.3' };
  const readFile = () => {
    throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
  };
  const status = await runCommandLine({ ...options, readFile }, surroundings);
  return Object.assign(surroundings, { status });
}

const render = (...args: string[]) => run('completion', ...args);

/** Returns the answer that a script gets for these words, the last of which is incomplete. */
const ask = async (...words: string[]) =>
  (await run('complete', '--', ...words)).stdout.split('\n').slice(0, -1);

const listWords = async (...words: string[]) => (await ask(...words)).map((line) => line.split('\t')[0]);

test.each(COMMANDS)('$name is offered with its options and the settings', async ({ name, options }) => {
  const words = name.split(' ');
  expect(await listWords(...words.slice(0, -1), '')).toContain(words.at(-1));
  const offered = await listWords(...words, '-');
  for (const option of [...Object.keys(options), ...SETTING_NAMES]) expect(offered).toContain(`--${option}`);
});

test('a value that stands in one word with its option is offered with it', async () => {
  expect(await ask('keys', 'list', '--state=e')).toEqual(['--state=expired']);
  expect(await ask('serve', '--log.level=f')).toEqual(['--log.level=fatal']);
  expect(await ask('apply', '--file=')).toEqual([':files']);
});

test('words have a short description', async () => {
  expect(await ask('approvals', 'l')).toEqual([
    'list\tList the calls that wait for an approval, newest first',
  ]);
  expect(await ask('ke')).toEqual(['keys\tCommands of keys']);
  expect(await ask('audit', 'list', '--ki')).toEqual(['--kind\tOnly calls, or only administrative actions']);
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
    // Passed as a file, because some versions of fish read no script from standard input.
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
  const complete = async (...words: string[]): Promise<string[]> => {
    // Splits words like bash, whose COMP_WORDBREAKS contains `=`.
    const split = words
      .flatMap((word) => word.split(/(=)/))
      .filter((word, at, all) => word !== '' || at === all.length - 1);
    const asked = ['complete', '--', ...split];
    writeFileSync(join(folder, '.answer'), (await run(...asked)).stdout);
    const script = [
      'erp-proxy() { printf "%s\\n" "$@" >.asked; cat .answer; }',
      'source completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _erp_proxy',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's
      'printf "%s\\n" "${COMPREPLY[@]-}"',
    ].join('\n');
    const printed = execFileSync('bash', ['--norc', '-eu', '-c', script, 'bash', 'erp-proxy', ...split], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(readFileSync(join(folder, '.asked'), 'utf8')).toBe(`${asked.join('\n')}\n`);
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
    [['apply', '--file=ab'], ['abc.yaml']],
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
  ])('%j offers %j', async (words, offered) => {
    // Sorted, because files come in the order of the file system.
    expect((await complete(...words)).sort()).toEqual(offered.toSorted());
  });

  test('completes the first word of every command', async () => {
    const firsts = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]));
    expect((await complete('')).sort()).toEqual([...firsts, '--help', '--version'].sort());
  });
});
