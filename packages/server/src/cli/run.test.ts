import { afterEach, describe, expect, test } from 'vitest';
import { COMMANDS } from './commands.ts';
import { runCommandLine } from './run.ts';
import { recordSurroundings } from './surroundings.fixture.ts';

let printed = '';
let complained = '';
afterEach(() => {
  printed = '';
  complained = '';
});

async function run(...argv: string[]): Promise<number> {
  const surroundings = recordSurroundings();
  const status = await runCommandLine(
    {
      argv,
      env: {},
      cwd: '/nowhere',
      readFile: () => {
        throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
      },
      version: '1.2.3',
    },
    surroundings,
  );
  printed += surroundings.stdout;
  complained += surroundings.stderr;
  return status;
}

describe('help', () => {
  test.each([[['--help']], [['-h']], [['help']], [[]]])('%j lists every command', async (argv) => {
    expect(await run(...argv)).toBe(0);
    for (const { name, summary } of COMMANDS) {
      expect(printed).toContain(name);
      expect(printed).toContain(summary);
    }
  });

  test.each(COMMANDS.map(({ name }) => name))(
    '%s --help lists its options and starts nothing',
    async (name) => {
      expect(await run(...name.split(' '), '--help')).toBe(0);
      const options = COMMANDS.find((command) => command.name === name)?.options ?? {};
      for (const option of [...Object.keys(options), 'config', 'help'])
        expect(printed).toContain(`--${option}`);
      expect(complained).toBe('');
    },
  );

  test.each(['--version', '-v'])('%s prints the version alone', async (option) => {
    expect(await run(option)).toBe(0);
    expect(printed).toBe('1.2.3\n');
  });

  test.each([
    [['keys']],
    [['keys', '--help']],
    [['keys', '-h']],
    [['keys', 'help']],
    [['help', 'keys']],
    [['--log.level=warn', 'keys']],
  ])('%j lists the commands of the group and no others', async (argv) => {
    expect(await run(...argv)).toBe(0);
    for (const { name, summary } of COMMANDS) {
      if (name.startsWith('keys ')) expect(printed).toContain(summary);
      else expect(printed).not.toContain(summary);
    }
    expect(printed).toMatch(/^Usage: erp-proxy keys <command>/);
    expect(complained).toBe('');
  });

  test.each([[['keys', 'create', '-h']], [['help', 'keys', 'create']], [['-h', 'keys', 'create']]])(
    '%j shows how the command is called',
    async (argv) => {
      expect(await run(...argv)).toBe(0);
      expect(printed).toMatch(/^Usage: erp-proxy keys create \[options\]\n/);
      expect(printed).toMatch(/ -h, --help /);
    },
  );
});

describe('wrong usage exits with 2 and shows the usage', () => {
  test.each([
    [['serv'], /no command "serv".*Did you mean "serve"/],
    [['keys', 'lst'], /"keys" goes with one of: keys create, keys list, keys show, keys update, keys revoke/],
    [['keys', '-v'], /^"keys" is no command by itself\. "keys" goes with one of: keys create/],
    [['list', 'keys'], /Did you mean "keys list"/],
    [['audit', 'list', '--since=foo'], /^--since "foo" is not a time: give 7d, /],
    [['--frob'], /command must come first/],
    [['help', 'serv'], /Did you mean "serve"/],
    [['keys', 'remove', 'x'], /no command "keys remove"/],
    [['key', 'list'], /Did you mean "keys list"/],
    [['keys', 'revoke'], /Call it as: erp-proxy keys revoke <id>/],
    [['keys', 'revoke', 'a', 'b'], /Call it as: erp-proxy keys revoke <id>/],
    [['serve', '--frob'], /^Unknown option '--frob'\. See erp-proxy serve --help\.\n$/],
    [
      ['export', '-o', 'proxy.yaml'],
      /^Unknown option '-o'\. erp-proxy config export takes it\. See erp-proxy exp/,
    ],
    [['serve', '--http.prt=1'], /nearest is --http\.port/],
    [['serve', '--http.port=x', '--log.level=x'], /http\.port[\s\S]*log\.level/],
    [['serve', '--config', 'missing.yaml'], /missing\.yaml: there is no such file/],
    [['keys', 'create', '--name'], /--name/],
    [['keys', 'create', '--store.url=memory:'], /store\.url is memory:/],
    [['sandbox', '--version=12'], /one of 14, 15, 16, 17, 18, 19, 22/],
    [['sandbox', '--port=-1'], /0 to 65535/],
    [['call', 'file', '--key=x'], /file: the file cannot be read \(EACCES\)/],
  ])('%j', async (argv, says) => {
    expect(await run(...argv)).toBe(2);
    expect(complained).toMatch(says);
    expect(printed).toBe('');
    expect(complained).not.toContain('/a/path');
  });
});

test('a setting can come before or after the command, as one word or two', async () => {
  for (const argv of [
    ['--log.level=warn', 'config', 'print', '--json'],
    ['config', 'print', '--log.level', 'warn', '--json'],
  ]) {
    printed = '';
    expect(await run(...argv)).toBe(0);
    expect(printed).toContain('warn');
  }
});

test('config check --json prints JSON for all errors', async () => {
  expect(await run('config', 'check', '--json', '--http.port=x', '--log.level=x')).toBe(2);
  expect(JSON.parse(printed)).toEqual({
    ok: false,
    faults: [expect.stringMatching(/^--http\.port: /), expect.stringMatching(/^--log\.level: /)],
    warnings: [],
  });
  printed = '';
  expect(await run('config', 'check', '--json', '--egress.allow=a/b')).toBe(2);
  expect(JSON.parse(printed)).toMatchObject({ ok: false, faults: [expect.stringContaining('a/b')] });
  printed = '';
  expect(await run('config', 'check', '--json', '--idempotency.store=redis')).toBe(2);
  expect(JSON.parse(printed)).toMatchObject({ ok: false, faults: [expect.stringContaining('redis.url')] });
  expect(complained).toBe('');
});

test('exits with 1 if the settings are valid but the environment is not', async () => {
  expect(await run('keys', 'list', '--store.url=sqlite:/dev/null/keys.db')).toBe(1);
  expect(complained.trim().split('\n')).toHaveLength(1);
});
