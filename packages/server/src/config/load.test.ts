import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../test/random-cases.ts';
import { type LoadOptions, loadSettings } from './load.ts';
import { nameFileVariable, nameVariable, SETTING_NAMES } from './names.ts';
import { printSettings } from './print.ts';
import { readTextFile } from './read-text-file.ts';

const SECRET = 'correct-horse-battery-staple-and-more';

test('returns the defaults if nothing is set', () => {
  const { settings, sources } = expectSettings({});
  expect(settings.http).toEqual({
    host: '127.0.0.1',
    port: 8787,
    answerBytesPerSecondMin: 131_072,
    bodyBytesMax: 33_554_432,
    bodiesBytesMax: 268_435_456,
    publicUrl: null,
    requestTimeoutMs: 30_000,
    shutdownGraceMs: 10_000,
    trustProxy: [],
  });
  expect(settings.keys.hashSecret).toBe(null);
  expect(settings.upstream.firstByteTimeoutMs).toBe(null);
  expect(settings.egress.allow).toEqual([]);
  expect(new Set(sources.values())).toEqual(new Set(['default']));
});

test('the file overrides defaults, the environment the file, and flags the environment', () => {
  const yaml = 'http:\n  port: 1\n  host: "::1"\nupstream:\n  timeoutMs: 1\n';
  const env = { ERP_PROXY_HTTP_PORT: '2', ERP_PROXY_UPSTREAM_TIMEOUT_MS: '2' };
  const { settings, sources } = expectSettings({ yaml, env, argv: ['--http.port', '3'] });
  expect([settings.http.port, settings.upstream.timeoutMs, settings.http.host]).toEqual([3, 2, '::1']);
  expect(sources.get('http.port')).toBe('--http.port');
  expect(sources.get('upstream.timeoutMs')).toBe('ERP_PROXY_UPSTREAM_TIMEOUT_MS');
  expect(sources.get('http.host')).toBe('erp-proxy.yaml:3');
  expect(sources.get('log.level')).toBe('default');
});

test.each([
  ['http.bodyBytesMax', '1048576', 1_048_576],
  ['http.bodyBytesMax', '32MiB', 33_554_432],
  ['http.bodyBytesMax', '64 KiB', 65_536],
  ['http.port', '0', 0],
  ['http.host', 'localhost', 'localhost'],
  ['http.host', '::', '::'],
  ['http.trustProxy', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  ['http.trustProxy', '', []],
  ['egress.allow', 'http://odoo.internal:8069,10.1.0.0/16', ['http://odoo.internal:8069', '10.1.0.0/16']],
  ['store.url', 'memory:', 'memory:'],
  ['errors.debug', 'true', true],
  ['log.level', 'debug', 'debug'],
  ['upstream.firstByteTimeoutMs', '300000', 300_000],
])('reads %s from the text %j', (name, text, value) => {
  const { settings } = expectSettings({ argv: [`--${name}=${text}`] });
  expect(settings).toHaveProperty(name, value);
});

test('reads a switch that stands alone as true', () => {
  expect(expectSettings({ argv: ['--errors.debug'] }).settings.errors.debug).toBe(true);
});

test('reads lists, sizes and empty values from the file', () => {
  const yaml =
    'egress:\n  allow:\n    - odoo.internal\nhttp: {bodyBytesMax: 1MiB}\nkeys:\n  hashSecret:\nlog:\n';
  const { settings, sources } = expectSettings({ yaml });
  expect(settings.egress.allow).toEqual(['odoo.internal']);
  expect(settings.http.bodyBytesMax).toBe(1_048_576);
  expect(settings.keys.hashSecret).toBe(null);
  expect(sources.get('keys.hashSecret')).toBe('erp-proxy.yaml:6');
});

test('reads a setting without a group from every source', () => {
  expect(expectSettings({}).settings.workers).toBe(1);
  const yaml = 'workers: 2\n';
  expect(expectSettings({ yaml }).settings.workers).toBe(2);
  const env = { ERP_PROXY_WORKERS: '3' };
  expect(expectSettings({ yaml, env }).settings.workers).toBe(3);
  const { settings, sources } = expectSettings({ yaml, env, argv: ['--workers', '4'] });
  expect([settings.workers, sources.get('workers')]).toEqual([4, '--workers']);
});

test('reads nested settings from the file, and from JSON in a variable', () => {
  const issuers = [{ name: 'corp', rules: [{ claim: ['a', 'b'], value: 1, policy: { models: {} } }] }];
  const yaml =
    'auth:\n  issuers:\n    - name: corp\n      rules:\n        - {claim: [a, b], value: 1, policy: {models: {}}}\n';
  expect(expectSettings({ yaml }).settings.auth).toEqual({ issuers, policies: {} });
  const env = { ERP_PROXY_AUTH_ISSUERS: JSON.stringify(issuers), ERP_PROXY_AUTH_POLICIES: '{"x": {}}' };
  expect(expectSettings({ env }).settings.auth).toEqual({ issuers, policies: { x: {} } });
});

test.each([
  'auth:\n  issuers: corp\n',
  'auth:\n  issuers: [corp]\n',
  'auth:\n  issuers:\n    - &a {name: corp}\n    - *a\n',
  'auth:\n  issuers:\n    - {name: corp, 7: x}\n',
])('refuses what is no list of groups: %j', (yaml) => {
  expect(listErrors({ yaml })[0]).toMatch(
    /^erp-proxy\.yaml:2: auth\.issuers must be a list of identity providers/,
  );
});

test.each(['corp', '[{"name":"a","name":"b"}]', '[{"name":', '{"name":"a"}'])(
  'refuses JSON that is no list of objects, or names a member twice: %j',
  (text) => {
    expect(listErrors({ env: { ERP_PROXY_AUTH_ISSUERS: text } })[0]).toMatch(/auth\.issuers must be a list/);
  },
);

test('accepts a file of comments only', () => {
  expect(expectSettings({ yaml: '# nothing yet\n' }).settings.http.port).toBe(8787);
});

test('reads the file that the operator names instead of erp-proxy.yaml', () => {
  const files = { '/srv/erp-proxy.yaml': 'http: {port: 1}', '/srv/etc/other.yaml': 'log: {level: warn}' };
  const { settings, sources } = expectSettings({ files, file: 'etc/other.yaml' });
  expect([settings.http.port, settings.log.level]).toEqual([8787, 'warn']);
  expect(sources.get('log.level')).toBe('etc/other.yaml:1');
});

test('refuses a named file that does not exist', () => {
  expect(listErrors({ file: 'other.yaml' })).toEqual(['other.yaml: there is no such file']);
});

test('refuses a file that it cannot read, even if nobody named it', () => {
  const readFile = () => {
    throw Object.assign(new Error('EACCES: permission denied, open /srv/erp-proxy.yaml'), { code: 'EACCES' });
  };
  expect(listErrors({ readFile })).toEqual(['erp-proxy.yaml: the file cannot be read (EACCES)']);
});

test('refuses a symbolic link that leads to no file, also that of a secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  try {
    symlinkSync('gone.yaml', join(folder, 'erp-proxy.yaml'));
    const message = 'the symbolic link leads to no file; correct or remove it';
    const [cwd, readFile] = [folder, readTextFile];
    expect(listErrors({ cwd, readFile })).toEqual([`erp-proxy.yaml: ${message}`]);
    const env = { ERP_PROXY_ADMIN_TOKEN_FILE: 'erp-proxy.yaml' };
    expect(listErrors({ cwd, readFile, env })).toContain(`ERP_PROXY_ADMIN_TOKEN_FILE: ${message}`);
    rmSync(join(folder, 'erp-proxy.yaml'));
    expect(listErrors({ cwd, readFile })).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('refuses a file that is not UTF-8, also one of a secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-'));
  try {
    const file = join(folder, 'windows.yaml');
    for (const bytes of [
      Buffer.from('console: {title: Café}', 'latin1'),
      Buffer.from('\ufefflog: {}', 'utf16le'),
    ]) {
      writeFileSync(file, bytes);
      const message = 'the file is not UTF-8; save it in this encoding';
      expect(listErrors({ readFile: readTextFile, file })).toEqual([`${file}: ${message}`]);
      const env = { ERP_PROXY_ADMIN_TOKEN_FILE: file };
      expect(listErrors({ readFile: (path) => (path === file ? readTextFile(path) : ''), env })).toContain(
        `ERP_PROXY_ADMIN_TOKEN_FILE: ${message}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([
  ['an empty file', ' \n', 'erp-proxy.yaml:1: the file is empty; write settings into it, or delete it'],
  ['a list', '- http\n', 'erp-proxy.yaml:1: the file must hold lines of the form "name: value"'],
  ['bare text', '\nhttp', 'erp-proxy.yaml:2: the file must hold lines of the form "name: value"'],
  [
    'a value in place of a group',
    'http: 8080',
    'erp-proxy.yaml:1: http must hold lines of the form "name: value"',
  ],
  [
    'a group in place of a setting without a group',
    'workers:\n  count: 2',
    'erp-proxy.yaml:1: workers must be a whole number of processes from 1 to 128',
  ],
  ['a dotted name', 'http.port: 1', 'erp-proxy.yaml:1: write http.port as port indented below http:'],
  ['a name that is a list', '? [a]\n: b', 'erp-proxy.yaml:1: a name in the file must be plain text'],
  ['an unknown group', 'htpp:\n  port: 1', 'erp-proxy.yaml:1: there is no such setting; the nearest is http'],
  [
    'an unknown setting',
    'http:\n  prot: 1',
    'erp-proxy.yaml:2: there is no such setting; the nearest is http.port',
  ],
  [
    '__proto__ as a name',
    '__proto__:\n  port: 1',
    'erp-proxy.yaml:1: there is no such setting; the nearest is operators',
  ],
  [
    'a name twice',
    'http:\n  port: 1\n  port: 2',
    'erp-proxy.yaml:3: this name stands twice in its group; keep one',
  ],
  [
    'a group twice',
    'http:\n  port: 1\nhttp:\n  host: "::1"',
    'erp-proxy.yaml:3: this name stands twice in its group; keep one',
  ],
  ['tabs', 'http:\n\tport: 1', 'erp-proxy.yaml:2: lines are indented with spaces, not with tabs'],
  [
    'two documents',
    'http:\n---\nlog:',
    'erp-proxy.yaml:2: the file must be one YAML document; remove the line ---',
  ],
  [
    'broken quotes',
    'log:\n  level: "info',
    'erp-proxy.yaml:2: this is not valid YAML (MISSING_CHAR): is the file whole? Check indentation, quotes and brackets',
  ],
  [
    'a map as a value',
    'http:\n  port: {a: 1}',
    'erp-proxy.yaml:2: http.port must be a whole number from 0 to 65535',
  ],
  [
    'an alias',
    'http:\n  port: &a 80\n  host: *a',
    'erp-proxy.yaml:3: http.host must be an IP address or localhost',
  ],
  [
    'text for a list',
    'egress:\n  allow: a,b',
    'erp-proxy.yaml:2: egress.allow must be a list of origins, hosts or CIDRs, not "a,b"',
  ],
  [
    'text for a number',
    'http:\n  port: "80"',
    'erp-proxy.yaml:2: http.port must be a whole number from 0 to 65535, not "80"',
  ],
])('refuses in the file: %s', (_what, yaml, error) => {
  expect(listErrors({ yaml })).toContain(error);
});

test.each([
  ['http.port', '65536', 'a whole number from 0 to 65535'],
  ['http.port', '-1', 'a whole number from 0 to 65535'],
  ['http.port', '1e3', 'a whole number from 0 to 65535'],
  ['http.port', '', 'a whole number from 0 to 65535'],
  ['http.host', 'example.com', 'an IP address or localhost'],
  ['http.host', '[::1]', 'an IP address or localhost'],
  ['http.bodyBytesMax', '32MB', 'a number of bytes from 1 to 256MiB, plain or with a unit: KiB, MiB, GiB'],
  ['http.bodyBytesMax', '1GiB', 'a number of bytes from 1 to 256MiB, plain or with a unit: KiB, MiB, GiB'],
  ['upstream.timeoutMs', '0', 'a whole number of milliseconds from 1 to 300000'],
  ['upstream.timeoutMs', '300001', 'a whole number of milliseconds from 1 to 300000'],
  ['batch.concurrency', '101', 'a whole number of calls from 1 to 100'],
  ['errors.debug', 'yes', 'true or false'],
  ['log.level', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],
])('refuses %s = %j and says what is expected', (name, text, expected) => {
  const shown = /^\d+$/.test(text) ? text : JSON.stringify(text);
  const error = `--${name}: ${name} must be ${expected}, not ${shown}`;
  expect(listErrors({ argv: [`--${name}=${text}`] })).toEqual([error]);
});

test.each([
  'a,,b',
  '10.0.0.0/0',
  '::/0',
  '10.0.0.0/33',
  '::1/129',
  'loopback',
  '10.0.0.1/255.0.0.0',
  'fe80::1%eth0',
])('trusts no reverse proxy named %s', (entry) => {
  expect(listErrors({ env: { ERP_PROXY_HTTP_TRUST_PROXY: entry } })).toHaveLength(1);
});

test('refuses an empty entry of egress.allow', () => {
  expect(listErrors({ env: { ERP_PROXY_EGRESS_ALLOW: 'odoo.internal,' } })).toHaveLength(1);
});

test('reports the errors of all sources at once, also of values that another source overrides', () => {
  const errors = listErrors({
    yaml: 'http:\n  port: abc\n  host: nowhere\n  port: 1\nlog: {level: loud}\n',
    env: { ERP_PROXY_HTTP_PORT: 'x', ERP_PROXY_HTTP_PROT: '1', ERP_PROXY_LOG_LEVEL: 'info' },
    argv: ['--http.prot=1', '--log.level', '--http.port=1', '--http.port=2', 'word'],
  });
  expect(errors.map((error) => error.split(': ')[0])).toEqual([
    'erp-proxy.yaml:4',
    'ERP_PROXY_HTTP_PROT',
    '--http.prot',
    '--log.level',
    '--http.port',
    'arguments',
    'erp-proxy.yaml:2',
    'erp-proxy.yaml:3',
    'erp-proxy.yaml:5',
    'ERP_PROXY_HTTP_PORT',
  ]);
  expect(errors).toContain(
    'ERP_PROXY_HTTP_PROT: there is no such setting; the nearest is ERP_PROXY_HTTP_PORT',
  );
  expect(errors).toContain('--http.prot: there is no such setting; the nearest is --http.port');
  expect(errors).toContain('--log.level: log.level needs a value: --log.level=…');
  expect(errors).toContain('--http.port: http.port is given twice; separate the entries of a list by commas');
});

test('refuses the file variable of a setting that is not secret', () => {
  const errors = listErrors({ env: { ERP_PROXY_HTTP_PORT_FILE: 'port.txt' } });
  expect(errors).toEqual([
    'ERP_PROXY_HTTP_PORT_FILE: there is no such setting; the nearest is ERP_PROXY_HTTP_PORT',
  ]);
});

test('ignores the variables that Kubernetes sets for a service named erp-proxy', () => {
  const env = {
    ERP_PROXY_SERVICE_HOST: '10.0.0.1',
    ERP_PROXY_SERVICE_PORT: '80',
    ERP_PROXY_SERVICE_PORT_HTTP: '80',
    ERP_PROXY_PORT: 'tcp://10.0.0.1:80',
    ERP_PROXY_PORT_80_TCP: 'tcp://10.0.0.1:80',
    ERP_PROXY_PORT_80_TCP_PROTO: 'tcp',
    ERP_PROXY_PORT_80_TCP_PORT: '80',
    ERP_PROXY_PORT_80_TCP_ADDR: '10.0.0.1',
  };
  expect(expectSettings({ env }).settings.http.port).toBe(8787);
  expect(listErrors({ env: { ERP_PROXY_PORT: '8080' } })).toHaveLength(1);
});

test('accepts the variables of commands, which are not settings', () => {
  const env = { ERP_PROXY_KEY: 'ep_a_b', ERP_PROXY_URL: 'http://127.0.0.1:8787' };
  expect(listErrors({ env })).toEqual([]);
  expect(listErrors({ env: { ERP_PROXY_URLS: 'x' } })).toEqual([expect.stringContaining('ERP_PROXY_URL')]);
});

test('ignores variables of other programs, and those that are unset', () => {
  const env = {
    PATH: '/bin',
    ERP_PROXYHTTP_PORT: 'x',
    ERP_PROXY_HTTP_PORT: undefined,
    ERP_PROXY_X: undefined,
  };
  expect(expectSettings({ env }).settings.http.port).toBe(8787);
});

test('reads a secret from the file that its variable names, without the last line break', () => {
  const files = { '/srv/run/secret': `${SECRET}\n` };
  const env = { ERP_PROXY_KEYS_HASH_SECRET_FILE: 'run/secret' };
  const { settings, sources } = expectSettings({ files, env });
  expect(settings.keys.hashSecret).toBe(SECRET);
  expect(sources.get('keys.hashSecret')).toBe('ERP_PROXY_KEYS_HASH_SECRET_FILE');
});

test('reads a setting that is secret in part from a file too', () => {
  const files = { '/run/secrets/store-url': 'postgres://me:hunter2@host/db\n' };
  const { settings } = expectSettings({ files, env: { ERP_PROXY_STORE_URL_FILE: '/run/secrets/store-url' } });
  expect(settings.store.url).toBe('postgres://me:hunter2@host/db');
});

test('the file of a secret overrides the variable without _FILE', () => {
  const files = { '/srv/run/secret': SECRET };
  const env = {
    ERP_PROXY_KEYS_HASH_SECRET: SECRET.toUpperCase(),
    ERP_PROXY_KEYS_HASH_SECRET_FILE: 'run/secret',
    ERP_PROXY_STORE_URL: 'sqlite:/data/erp-proxy.db',
    ERP_PROXY_STORE_URL_FILE: 'missing',
  };
  expect(listErrors({ files, env })).toEqual(['ERP_PROXY_STORE_URL_FILE: there is no such file']);
  const { settings, sources } = expectSettings({ files, env: { ...env, ERP_PROXY_STORE_URL_FILE: '' } });
  expect(settings.keys.hashSecret).toBe(SECRET);
  expect(sources.get('keys.hashSecret')).toBe('ERP_PROXY_KEYS_HASH_SECRET_FILE');
  expect(settings.store.url).toBe('sqlite:/data/erp-proxy.db');
});

test('an empty variable counts as unset, for every setting', () => {
  const variables = SETTING_NAMES.flatMap((name) => [nameVariable(name), nameFileVariable(name)]);
  const env = Object.fromEntries([...variables, 'ERP_PROXY_NO_SUCH_SETTING'].map((name) => [name, '']));
  const yaml = 'http:\n  port: 81\negress:\n  allow: [10.0.0.0/8]\n';
  const { settings, sources } = expectSettings({ env, yaml });
  expect(settings).toEqual(expectSettings({ yaml }).settings);
  expect(settings.keys.hashSecret).toBe(null);
  expect(sources.get('egress.allow')).toBe('erp-proxy.yaml:4');
});

test.each([
  ['too short in its variable', { env: { ERP_PROXY_KEYS_HASH_SECRET: 'hunter2' } }],
  ['put where the name of its file belongs', { env: { ERP_PROXY_KEYS_HASH_SECRET_FILE: 'hunter2' } }],
  [
    'too short in its file',
    { env: { ERP_PROXY_KEYS_HASH_SECRET_FILE: 's' }, files: { '/srv/s': 'hunter2' } },
  ],
  ['too short in a flag', { argv: ['--keys.hashSecret', 'hunter2'] }],
  ['split by the shell', { argv: [`--keys.hashSecret=${SECRET}`, 'hunter2'] }],
  ['in a misspelt flag', { argv: ['--keys.hashSecrte', 'hunter2'] }],
  ['in a misspelt variable', { env: { ERP_PROXY_KEYS_HASH_SECRTE: 'hunter2' } }],
  ['too short in the file', { yaml: 'keys:\n  hashSecret: hunter2\n' }],
  ['a list in the file', { yaml: 'keys:\n  hashSecret: [hunter2]\n' }],
  ['a map in the file', { yaml: 'keys:\n  hashSecret: {hunter2: hunter2}\n' }],
  ['without a blank in the file', { yaml: 'keys:\n  hashSecret:hunter2\n' }],
  ['without a blank in braces', { yaml: 'keys: {hashSecret:hunter2}\n' }],
  ['in broken quotes', { yaml: 'keys:\n  hashSecret: "hunter2\n' }],
  ['with a wrong escape', { yaml: 'keys:\n  hashSecret: "hunter2\\q"\n' }],
  ['behind an unknown anchor', { yaml: 'keys:\n  hashSecret: *hunter2\n' }],
  ['twice in the file', { yaml: 'keys:\n  hashSecret: hunter2\n  hashSecret: hunter2\n' }],
  ['in the URL of a store', { argv: ['--store.url=mysql://me:hunter2@host/db'] }],
] satisfies [string, Given][])('shows no secret in an error: %s', (_what, given) => {
  const errors = listErrors(given);
  expect(errors).not.toEqual([]);
  expect(errors.join('\n')).not.toContain('hunter2');
});

test('shortens a long wrong value', () => {
  const [error] = listErrors({ argv: [`--http.host=${'x'.repeat(100_000)}`] });
  expect(error!.length).toBeLessThan(200);
});

test('reports a line of ten thousand open brackets once', () => {
  expect(listErrors({ yaml: `http: ${'['.repeat(10_000)}` })).toHaveLength(1);
});

const NAMES = [
  'http.port',
  'http.host',
  'http.trustProxy',
  'keys.hashSecret',
  'errors.debug',
  'log',
  '__proto__',
];
const VARIABLES = [
  'ERP_PROXY_HTTP_PORT',
  'ERP_PROXY_KEYS_HASH_SECRET_FILE',
  'ERP_PROXY___PROTO__',
  'ERP_PROXY_',
];
const YAML_PIECES = [
  'http',
  'port',
  'keys',
  'hashSecret',
  ':',
  ': ',
  '\n',
  '\n  ',
  '\t',
  '- ',
  '[',
  ']',
  '{',
  '}',
].concat([
  '"',
  "'",
  '#',
  '&a ',
  '*a',
  '!!binary ',
  '!!set ',
  '? ',
  '|',
  '>',
  '---\n',
  '%YAML 1.1\n',
  '<<',
  '1',
  '.inf',
  '~',
  ',',
]);

test('never throws, for any file, environment and flags', () => {
  const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
  const argument = fc.oneof(
    fc.string(),
    name.map((each) => `--${each}`),
    fc.tuple(name, fc.string()).map(([each, value]) => `--${each}=${value}`),
  );
  const variable = fc.oneof(
    fc.constantFrom(...VARIABLES),
    fc.string().map((each) => `ERP_PROXY_${each}`),
  );
  const piece = fc.oneof(fc.constantFrom(...YAML_PIECES), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(
      fc.array(argument),
      fc.dictionary(variable, fc.oneof(fc.string({ unit: 'binary' }), fc.constant(undefined))),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
      (argv, env, yaml) => {
        const loaded = load({ argv, env, yaml });
        if (loaded.ok) expect(printSettings(loaded.settings, loaded.sources, 'json')).toContain('http.port');
        else for (const { source, message } of loaded.errors) expect(source && message).toBeTruthy();
      },
    ),
    { numRuns: countCases(300) },
  );
});

interface Given extends Partial<LoadOptions> {
  /** The text of erp-proxy.yaml. */
  yaml?: string;
  files?: Record<string, string>;
}

function load({ yaml, files = {}, ...options }: Given) {
  const all = new Map(Object.entries(yaml === undefined ? files : { ...files, '/srv/erp-proxy.yaml': yaml }));
  const readFile = (path: string): string => {
    const text = all.get(path);
    if (text === undefined)
      throw Object.assign(new Error(`ENOENT: no such file, ${path}`), { code: 'ENOENT' });
    return text;
  };
  return loadSettings({ argv: [], env: {}, cwd: '/srv', readFile, ...options });
}

function expectSettings(given: Given) {
  const loaded = load(given);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  return loaded;
}

function listErrors(given: Given): string[] {
  const loaded = load(given);
  return loaded.ok ? [] : loaded.errors.map(({ source, message }) => `${source}: ${message}`);
}

test.each([
  ['http.publicUrl', 'https://erp.example.com/@shop', true],
  ['http.publicUrl', 'https://user@erp.example.com', false],
  ['http.publicUrl', 'https://:password@erp.example.com', false],
  ['otel.endpoint', 'https://otel.example.com/@shop', true],
  ['otel.endpoint', 'https://user@otel.example.com', false],
])('a user or password is found in the parsed URL: %s %s', (name, url, isValid) => {
  const [group = '', member = ''] = name.split('.');
  const loaded = load({ yaml: `${group}:\n  ${member}: "${url}"` });
  expect(loaded.ok).toBe(isValid);
});
