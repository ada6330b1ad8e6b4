import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PrintedCall, printCurl, printPhp, printPython, printTypescript } from './print-call.ts';

const run = promisify(execFile);
const KEY = 'key-from-environment';
const ODOO_KEY = `odoo'"key`;

/** Values that end a string, begin a variable, or have a meaning in one of the languages. */
const HOSTILE = `it's "quoted" \\ \\n $HOME \${x} \`id\` #{y} %s {z} <?php ?>\nsecond line\u2028\u00e9\u{1f600} 'EOF'`;
const CALL: PrintedCall['call'] = {
  model_id: 'res.partner',
  action: 'write',
  params: [
    [3, 9],
    { name: HOSTILE, [`a'b"c\\`]: null, active: true, 0: false, tags: [], extra: {}, n: -1.5 },
  ],
  keyword: { context: { lang: 'fr_FR', note: HOSTILE } },
};

interface Received {
  path: string | undefined;
  headers: IncomingMessage['headers'];
  body: unknown;
}

let received: Received | null = null;
let origin = '';
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    received = { path: request.url, headers: request.headers, body };
    response.setHeader('content-type', 'application/json');
    response.end('{"jsonrpc":"2.0","id":null,"result":"done"}');
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** Replaces the extension curl if PHP lacks it. */
const CURL_OF_PHP = `if (!function_exists('curl_init')) {
  define('CURLOPT_RETURNTRANSFER', 1); define('CURLOPT_POSTFIELDS', 2); define('CURLOPT_HTTPHEADER', 3);
  function curl_init($url) { return (object) ['url' => $url]; }
  function curl_setopt_array($request, $options) { $request->options = $options; }
  function curl_exec($request) {
    $http = ['method' => 'POST', 'header' => $request->options[3], 'content' => $request->options[2]];
    return file_get_contents($request->url, false, stream_context_create(['http' => $http]));
  }
}`;

const PROGRAMS = {
  curl: { print: printCurl, start: (code: string) => ['sh', ['-c', code]] },
  Python: { print: printPython, start: (code: string) => ['python3', ['-c', code]] },
  PHP: {
    print: printPhp,
    start: (code: string) => ['php', ['-r', CURL_OF_PHP + code.replace(/^<\?php/, '')]],
  },
  TypeScript: {
    print: printTypescript,
    start: (code: string) => [process.execPath, ['--input-type=module-typescript', '-e', code]],
  },
} as const satisfies Record<
  string,
  { print: (call: PrintedCall) => string; start: (code: string) => [string, string[]] }
>;

const SERVERS = {
  'a stored server': { name: `pro'd` },
  'a server of its own': { url: 'https://erp.example.com', db: 'main', user_id: 2 },
} as const;

async function has(program: string): Promise<boolean> {
  try {
    await run('sh', ['-c', `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
}

const CASES = Object.keys(PROGRAMS).flatMap((language) =>
  Object.keys(SERVERS).map(
    (name) => [language as keyof typeof PROGRAMS, name as keyof typeof SERVERS] as const,
  ),
);

test.each(CASES)('%s sends the call to %s as it is', async (language, name) => {
  const { print, start } = PROGRAMS[language];
  const code = print({ origin, call: CALL, instance: SERVERS[name], areValuesNormalized: true });
  expect(code).not.toContain(KEY);
  const [program, args] = start(code);
  if (!(await has(program))) return;
  received = null;
  const { stdout } = await run(program, args, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, ERP_PROXY_KEY: KEY, ODOO_API_KEY: language === 'curl' ? 'plain' : ODOO_KEY },
  });
  expect(stdout).toContain('done');
  expect(received).toMatchObject({
    path: '/api/erp/execute',
    headers: { 'x-proxy-api': KEY, 'content-type': 'application/json', prefer: 'values=normalized' },
    body: CALL,
  });
  const { erp_instance } = (received as unknown as { body: { erp_instance: object } }).body;
  const apiKey = language === 'curl' ? 'plain' : ODOO_KEY;
  expect(erp_instance).toEqual(
    'name' in SERVERS[name] ? SERVERS[name] : { ...SERVERS[name], api_key: apiKey },
  );
});

test('a call without arguments is printed without them', () => {
  const call = { model_id: 'res.users', action: 'context_get', params: [], keyword: {} };
  const printed = { origin: 'https://a', call, instance: { name: 'prod' }, areValuesNormalized: false };
  expect(printTypescript(printed)).toContain('.model("res.users").call("context_get");');
  for (const print of [printCurl, printPython, printPhp]) {
    expect(print(printed)).not.toMatch(/params|keyword|prefer/);
  }
});
