/**
 * Tests that no URL of a caller, however it is written and whatever its DNS answers, makes the proxy connect to an
 * address that the operator did not allow. A listener on the loopback address counts the connections.
 */

import { createEgressDispatcher, type EgressDispatcher } from '@erp-proxy/egress';
import { parseEgressPolicy } from '@erp-proxy/egress/policy';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RawServer, startRawServer } from '../../../egress/test/raw-server.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}';

let inside: RawServer;
let opened: EgressDispatcher[] = [];

beforeAll(async () => {
  inside = await startRawServer((socket) => socket.end(ANSWER), { host: '0.0.0.0' });
});
afterAll(() => inside.close());
afterEach(async () => {
  for (const dispatcher of opened) await dispatcher.close();
  opened = [];
  inside.connections = 0;
});

function makeDispatcher(
  allow: string[],
  resolve: (name: string) => Promise<string[]> = async () => ['127.0.0.1'],
  nowMs: () => number = () => 0,
): EgressDispatcher {
  const { policy, errors } = parseEgressPolicy(allow);
  expect(errors).toEqual([]);
  const made = createEgressDispatcher({
    allow: policy,
    connectTimeoutMs: 2_000,
    firstByteTimeoutMs: 2_000,
    resolve,
    nowMs,
  });
  opened.push(made);
  return made;
}

function send(dispatcher: EgressDispatcher, origin: string) {
  const request = { method: 'POST' as const, origin, path: '/jsonrpc', headers: {}, body: Buffer.from('{}') };
  return dispatcher.send(request, { signal: AbortSignal.timeout(5_000) });
}

/** Hosts that lead to this machine, its network or its cloud. Names resolve to 127.0.0.1 in this test. */
const HOSTILE_HOSTS = [
  // loopback, in every notation of URL and inet_aton
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.0.0.2',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7F.0x0.0x0.0x1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '00000177.0.0.1',
  '127.0x0.0.1',
  '127.0.0.0x1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '127.0.0.1\t',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  // names
  'localhost',
  'LOCALHOST',
  'LocalHost.',
  'ⓛocalhost',
  'ｌｏｃａｌｈｏｓｔ',
  'app.localhost',
  'localhost.localdomain',
  'localtest.example',
  '127.0.0.1.nip.example',
  'metadata.google.internal',
  'xn--lclhost-7wa.example',
  // user information and other parser tricks
  'erp.example@127.0.0.1',
  'erp.example:443@127.0.0.1',
  'erp.example%40@127.0.0.1',
  '127.0.0.1#@erp.example',
  '127.0.0.1?@erp.example',
  '127.0.0.1\\@erp.example',
  // IPv4-mapped, -compatible, -translated, NAT64, 6to4, Teredo, ISATAP
  '[::ffff:127.0.0.1]',
  '[::FFFF:7F00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::ffff:10.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::127.0.0.1]',
  '[64:ff9b:1:7f00:0:100::]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2002:c0a8:101::]',
  '[2001::7f00:1]',
  '[2001:0:5ef5:79fd:0:0:80ff:fffe]',
  '[fe80::5efe:127.0.0.1]',
  '[2606:4700::5efe:10.0.0.1]',
  '[2606:4700::200:5efe:192.168.0.1]',
  // private networks
  '10.0.0.1',
  '10.255.255.255',
  '167772161',
  '0xa000001',
  '012.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '0xac.0x10.1',
  '192.168.0.1',
  '192.168.257',
  '3232235521',
  '[fc00::1]',
  '[fd12:3456:789a::1]',
  '[fec0::1]',
  // carrier-grade NAT
  '100.64.0.1',
  '100.127.255.254',
  '1681915905',
  // link-local and metadata services
  '169.254.0.1',
  '169.254.169.254',
  '169.254.169.254.',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fe80::1]',
  '[febf::1]',
  '[fe80::1%25lo]',
  '[::1%25lo]',
  '[::1%lo]',
  // unspecified, multicast, broadcast and reserved addresses
  '0',
  '0.0.0.0',
  '0x0',
  '00',
  '0.1.2.3',
  '[::]',
  '[::ffff:0.0.0.0]',
  '224.0.0.1',
  '239.255.255.250',
  '[ff02::1]',
  '[ff0e::1]',
  '255.255.255.255',
  '4294967295',
  '192.0.2.1',
  '198.18.0.1',
  '203.0.113.1',
  '240.0.0.1',
  '[2001:db8::1]',
  '[100::1]',
  '[3fff::1]',
];

/** The origin that the proxy reads from a caller's URL; the text itself if it is not a URL. */
function readOrigin(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}

describe.each([
  ['by default', []],
  [
    'if other destinations are allowed',
    ['http://erp.internal:8069', 'odoo.internal', '10.9.9.0/24', 'fd99::/64'],
  ],
])('%s', (_when, allow) => {
  test.each(HOSTILE_HOSTS)('refuses %j and does not connect', async (host) => {
    const dispatcher = makeDispatcher(allow);
    for (const scheme of ['https', 'http', 'HTTPS']) {
      const origin = readOrigin(`${scheme}://${host}:${inside.port}/`);
      const outcome = await send(dispatcher, origin);
      expect(outcome, origin).toMatchObject({ ok: false, reason: 'denied', sent: false });
    }
    expect(inside.connections).toBe(0);
  });
});

test('checks literal hosts without asking DNS', () => {
  const dispatcher = makeDispatcher([], () => Promise.reject(new Error('DNS was asked')));
  for (const host of ['127.0.0.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '169.254.169.254']) {
    expect(dispatcher.check(readOrigin(`https://${host}/`)), host).toMatchObject({ rule: 'address' });
  }
});

test.each([
  'https://user:pass@erp.example',
  'https://erp.example/',
  'https://erp.example/path',
  'https://erp.example?x',
  'https://erp.example#x',
  'https://ERP.example',
  'https://erp.example:443',
  'https:/erp.example',
  'https:erp.example',
  ' https://erp.example',
  'https://erp.example\r\n',
  '//erp.example',
  'erp.example',
  'null',
  '',
])('refuses %j, which is not an origin', async (origin) => {
  const dispatcher = makeDispatcher([], async () => ['127.0.0.1']);
  expect(dispatcher.check(origin)).not.toBeNull();
  expect(await send(dispatcher, origin)).toMatchObject({ reason: 'denied', sent: false });
});

test.each([
  'file:///etc/passwd',
  'ftp://erp.example',
  'gopher://127.0.0.1:6379',
  'ws://erp.example',
  'data:,x',
  'unix:/run/x',
])('refuses any other scheme: %s', async (url) => {
  const dispatcher = makeDispatcher(['127.0.0.0/8', 'erp.example']);
  for (const origin of [url, new URL(url).origin]) {
    expect(await send(dispatcher, origin)).toMatchObject({ reason: 'denied', sent: false });
  }
});

test.each([22, 25, 53, 110, 143, 465, 587, 2049, 6000, 6667, 10080])(
  'refuses port %i, even of an allowed host',
  async (port) => {
    const dispatcher = makeDispatcher(['127.0.0.0/8', 'erp.example']);
    for (const host of ['127.0.0.1', 'erp.example']) {
      expect(await send(dispatcher, `http://${host}:${port}`)).toMatchObject({
        reason: 'denied',
        sent: false,
      });
    }
  },
);

describe('DNS', () => {
  test.each([
    [['10.0.0.1']],
    [['127.0.0.1', '10.0.0.1']],
    [['10.0.0.1', '127.0.0.1']],
    [['127.0.0.1', '169.254.169.254']],
    [['127.0.0.1', '::ffff:10.0.0.1']],
    [['127.0.0.1', '::1%lo']],
    [['127.0.0.1', 'erp.example']],
    [['127.0.0.1', '']],
  ])('refuses a name if not all of its addresses are allowed: %j', async (addresses) => {
    const dispatcher = makeDispatcher(['127.0.0.1'], async () => addresses);
    expect(await send(dispatcher, `http://erp.example:${inside.port}`)).toMatchObject({
      reason: 'denied',
      sent: false,
    });
    expect(inside.connections).toBe(0);
  });

  test('is asked once: the proxy connects to the address that it has checked', async () => {
    let asked = 0;
    const dispatcher = makeDispatcher(['127.0.0.1'], async () =>
      asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'],
    );
    const answer = await send(dispatcher, `http://erp.example:${inside.port}`);
    expect(answer).toMatchObject({ ok: true, status: 200 });
    expect(asked).toBe(1);
    expect(inside.requests.at(-1)).toContain(`host: erp.example:${inside.port}\r\n`);
  });

  test('refuses a name whose address changes to a forbidden one', async () => {
    let nowMs = 0;
    let answer = ['127.0.0.1'];
    const dispatcher = makeDispatcher(
      ['127.0.0.1'],
      async () => answer,
      () => nowMs,
    );
    const origin = `http://erp.example:${inside.port}`;
    expect(await send(dispatcher, origin)).toMatchObject({ ok: true });
    answer = ['127.0.0.2'];
    nowMs += 60_000;
    expect(await send(dispatcher, origin)).toMatchObject({ reason: 'denied', sent: false });
    expect(inside.connections).toBe(1);
  });

  test('an allowed name may have a private address, but not that of a metadata service', async () => {
    const origin = `http://erp.internal:${inside.port}`;
    for (const [address, outcome] of [
      ['127.0.0.1', { ok: true }],
      ['169.254.169.254', { reason: 'denied', sent: false }],
      ['100.100.100.200', { reason: 'denied', sent: false }],
      ['0.0.0.0', { reason: 'denied', sent: false }],
    ] as const) {
      const dispatcher = makeDispatcher(['erp.internal'], async () => [address]);
      expect(await send(dispatcher, origin), address).toMatchObject(outcome);
    }
    expect(inside.connections).toBe(1);
  });
});

test('gives the same answer for a refused address whether its port is open or not', async () => {
  const closed = await startRawServer(() => {});
  await closed.close();
  const dispatcher = makeDispatcher([]);
  for (const host of ['127.0.0.1', 'localhost']) {
    const open = await send(dispatcher, `https://${host}:${inside.port}`);
    const shut = await send(dispatcher, `https://${host}:${closed.port}`);
    expect(shut).toEqual(open);
  }
  expect(inside.connections).toBe(0);
});

test('does not follow a redirect, whether or not its address is allowed', async () => {
  const redirecting = await startRawServer((socket) =>
    socket.end(
      `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:${inside.port}/\r\nContent-Length: 0\r\n\r\n`,
    ),
  );
  const dispatcher = makeDispatcher(['127.0.0.0/8']);
  expect(await send(dispatcher, redirecting.origin)).toMatchObject({ ok: true, status: 302 });
  await redirecting.close();
  expect(inside.connections).toBe(0);
});
