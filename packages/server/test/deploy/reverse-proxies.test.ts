/** Tests the examples of reverse proxies and the systemd unit: their limits agree with the settings. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import plainHttp, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall } from '../execute/expectations.ts';
import { makeSettings } from '../harness.ts';
import { listenOnFreePort } from '../listen.ts';
import { startPair } from '../pair.ts';
import { readText, root, takeSettings } from './deploy-files.ts';

const nginx = readText('deploy/reverse-proxy/nginx.conf');
const caddy = readText('deploy/reverse-proxy/Caddyfile');
const unit = readText('deploy/systemd/erp-proxy.service');
const { http } = makeSettings();
const MIB = 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const isInstalled = (command: string) => spawnSync(command, ['--version']).error === undefined;
const withProgram = (command: string) => test.skipIf(!isInstalled(command));
/** The number before a unit in the first match. */
const readNumber = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);

test('size and times of nginx agree with the settings', () => {
  expect(readNumber(nginx, /client_max_body_size (\d+)m;/) * MIB).toBe(http.bodyBytesMax);
  expect(readNumber(nginx, /client_body_timeout (\d+)s;/) * 1000).toBe(http.requestTimeoutMs);
  expect(readNumber(nginx, /keepalive_timeout (\d+)s;/)).toBeLessThan(65);
  expect(readNumber(nginx, /proxy_read_timeout (\d+)s;/)).toBeGreaterThan(300);
  expect(nginx).toContain('proxy_buffering off;');
  expect(nginx).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
  expect(nginx).toContain('proxy_next_upstream off;');
  expect(readNumber(nginx, /server 127\.0\.0\.1:(\d+);/)).toBe(http.port);
});

test('every location of nginx waits as long as a call can take, without a buffer', () => {
  const [, server = ''] = nginx.split(/^server \{$/m);
  const location = /^ {4}location [^{]+\{([^}]*)\}/gm;
  const locations = [...server.matchAll(location)].map(([, rules = '']) => rules);
  const inherited = server.replaceAll(location, '');
  expect(locations).toHaveLength(2);
  for (const rules of locations) {
    const all = inherited + rules;
    expect(readNumber(all, /proxy_read_timeout (\d+)s;/)).toBeGreaterThan(300);
    for (const rule of ['proxy_buffering off;', 'proxy_request_buffering off;', 'proxy_next_upstream off;'])
      expect(all).toContain(rule);
    expect(all).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
    // A header that a location sets would replace all headers that it inherits.
    expect(rules).not.toContain('proxy_set_header');
  }
});

test('size and times of Caddy agree with the settings', () => {
  expect(readNumber(caddy, /max_size (\d+)MiB/) * MIB).toBe(http.bodyBytesMax);
  expect(readNumber(caddy, /read_body (\d+)s/) * 1000).toBe(http.requestTimeoutMs);
  expect(readNumber(caddy, /keepalive (\d+)s/)).toBeLessThan(65);
  expect(readNumber(caddy, /response_header_timeout (\d+)s/)).toBeGreaterThan(300);
  expect(caddy).toContain('flush_interval -1');
  expect(readNumber(caddy, /reverse_proxy 127\.0\.0\.1:(\d+)/)).toBe(http.port);
});

test.each([nginx, caddy])('the settings that the example %# names are valid', (text) => {
  const trusted = /http\.trustProxy: \[(.+)\]/.exec(text)?.[1] ?? '';
  const url = /http\.publicUrl: (\S+)/.exec(text)?.[1] ?? '';
  const env = { ERP_PROXY_HTTP_TRUST_PROXY: trusted, ERP_PROXY_HTTP_PUBLIC_URL: url };
  expect(takeSettings(env).http).toMatchObject({ trustProxy: ['127.0.0.1'], publicUrl: url });
});

/** Writes the example for a folder that needs no rights of root. Returns the arguments of nginx that name it. */
function writeNginx(example: string): string[] {
  const files = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.certificate, TEST_CERTIFICATE);
  writeFileSync(files.key, TEST_KEY);
  const adapted = example
    .replace(/ssl_certificate \S+;/, `ssl_certificate ${files.certificate};`)
    .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${files.key};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const main = join(folder, 'nginx.conf');
  writeFileSync(main, `pid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${adapted}}\n`);
  return ['-p', folder, '-e', `${folder}/error.log`, '-c', main];
}

// Skipped if nginx is not installed, because no other test needs it.
withProgram('nginx')('nginx accepts its example', () => {
  const { status, stderr } = spawnSync('nginx', ['-t', ...writeNginx(nginx)]);
  expect(stderr.toString()).toContain('test is successful');
  expect(status).toBe(0);
});

withProgram('nginx')(
  'behind nginx, an answer arrives in pieces, and the caller has its own address',
  async () => {
    await expectPassing('https', async (port, proxyPort) => {
      const example = nginx
        .replace('127.0.0.1:8787', `127.0.0.1:${proxyPort}`)
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace(/server \{\s+listen 80;[\s\S]+$/, '');
      return spawn('nginx', ['-g', 'daemon off;', ...writeNginx(example)], { stdio: 'ignore' });
    });
  },
);

withProgram('caddy')(
  'behind Caddy, an answer arrives in pieces, and the caller has its own address',
  async () => {
    await expectPassing('http', async (port, proxyPort) => {
      const example = caddy
        .replace('127.0.0.1:8787', `127.0.0.1:${proxyPort}`)
        .replace('erp.example.com {', `http://127.0.0.1:${port} {`)
        .replace('{\n\tservers', '{\n\tadmin off\n\tservers');
      const file = join(folder, 'Caddyfile');
      writeFileSync(file, example);
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'ignore' });
    });
  },
);

const FIRST = `"${'a'.repeat(70_000)}`;

/** `start` starts the reverse proxy on a port, in front of the proxy on another port. */
async function expectPassing(
  scheme: 'http' | 'https',
  start: (port: number, proxyPort: number) => Promise<ChildProcess>,
): Promise<void> {
  let sendRest: () => void = () => {};
  const pair = closeAfterTest(
    await startPair(
      (socket) => {
        socket.write('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n');
        socket.write(`{"jsonrpc": "2.0", "id": 1, "result": ${FIRST}`);
        sendRest = () => socket.end('"}');
      },
      { settings: { 'http.trustProxy': '127.0.0.1' } },
    ),
  );
  const port = await findFreePort();
  const child = await start(port, Number(new URL(pair.proxy.url).port));
  closeAfterTest({ close: () => child.kill() });
  const request = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        method: 'POST',
        rejectUnauthorized: false,
        headers: {
          'x-proxy-api': pair.proxy.key,
          'content-type': 'application/json',
          'x-forwarded-for': '203.0.113.7',
        },
      };
      const url = `${scheme}://127.0.0.1:${port}/api/erp/execute`;
      const sent = (scheme === 'https' ? https : plainHttp).request(url, options, resolve);
      sent.on('error', reject);
      sent.end(printCall(pair.upstream.url));
    });
  await expect.poll(() => takesConnections(port)).toBe(true);
  const answer = await request();
  let received = '';
  answer.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  await expect.poll(() => received.length).toBeGreaterThan(FIRST.length / 2);
  expect(answer.complete).toBe(false);
  sendRest();
  await expect.poll(() => answer.complete).toBe(true);
  expect(JSON.parse(received).result).toHaveLength(70_000);
  // The reverse proxy replaces the address that the caller claims.
  const readAddress = () => pair.proxy.log.find(({ msg }) => msg === 'call')?.['address'];
  await expect.poll(readAddress).toBe('127.0.0.1');
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

withProgram('caddy')('Caddy accepts its example', () => {
  const file = `${root}deploy/reverse-proxy/Caddyfile`;
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  execFileSync('caddy', ['validate', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'pipe' });
});

test('the unit starts the program with settings that it accepts, and stops it in time', () => {
  const env = Object.fromEntries(
    [...unit.matchAll(/^#?Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
      name,
      value.replace('%d', '/credentials'),
    ]),
  );
  const files = {
    '/credentials/vault_master_key': Buffer.alloc(32).toString('base64'),
    '/credentials/admin_token': 'x'.repeat(32),
  };
  const settings = takeSettings(env, files);
  const state = /^StateDirectory=(\S+)$/m.exec(unit)?.[1];
  expect(settings.store.url).toMatch(new RegExp(`^sqlite:/var/lib/${state}/`));
  // Commands do not read the unit, so its comment and the page name the store.
  for (const text of [unit, readText('docs/deployment.md')])
    expect(text).toContain(`erp-proxy keys create --name shop --store.url ${settings.store.url}\n`);
  expect(readNumber(unit, /^TimeoutStopSec=(\d+)s$/m) * 1000).toBeGreaterThan(http.shutdownGraceMs);
  // `%d` came with systemd 251.
  expect(unit).toContain('%d');
  expect(readNumber(unit, /systemd \((\d+) or later\)/)).toBeGreaterThanOrEqual(251);
  // The unit loads each credential that a variable names.
  for (const [, name] of unit.matchAll(/%d\/(\w+)/g)) expect(unit).toContain(`LoadCredential=${name}:`);
});

withProgram('systemd-analyze')('systemd accepts the unit, and rates its exposure as low', () => {
  const file = `${root}deploy/systemd/erp-proxy.service`;
  const verified = spawnSync('systemd-analyze', ['verify', file]);
  expect(verified.stderr.toString()).not.toMatch(/erp-proxy\.service/);
  const rated = spawnSync('systemd-analyze', [
    'security',
    '--offline=true',
    '--threshold=20',
    '--no-pager',
    file,
  ]);
  expect(rated.status, rated.stdout.toString().slice(-300)).toBe(0);
});
