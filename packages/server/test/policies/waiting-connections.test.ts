/** Tests changes and failures between the permit of a call and its first byte. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall, UPSTREAM_KEY } from '../execute/expectations.ts';
import { type ProxyOptions, type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import { answerLikeOdoo, printResult, ROLLED_BACK, startUpstream } from '../scripted-upstream.ts';

async function start(options: ProxyOptions = {}): Promise<RunningProxy> {
  const proxy = await startProxy({
    ...options,
    settings: {
      'upstream.refusedCredentialsTtlMs': '0',
      'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
      ...options.settings,
    },
  });
  closeAfterTest(proxy);
  return proxy;
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTest({ close: () => server.close() });
  return (server.address() as AddressInfo).port;
}

interface HeldServer {
  url: string;
  /**
   * Number of connections that wait for the handshake. The first is the proxy's own request for the expiry of the key.
   */
  waiting(): number;
  completeHandshakes(): void;
  /** Number of calls that arrived, without the proxy's own requests. */
  requests(): number;
}

/** A TLS server that delays handshakes until `completeHandshakes`, and answers every request with `true`. */
async function startHeldServer(): Promise<HeldServer> {
  let requests = 0;
  const inner = createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      if (bytes.includes('res.partner"')) requests++;
      answerLikeOdoo(socket, printResult('true'));
    });
  });
  const innerPort = await listen(inner);
  const held: (() => void)[] = [];
  const outer = createServer((socket) => {
    socket.on('error', () => {});
    closeAfterTest({ close: () => socket.destroy() });
    held.push(() => {
      const innerSocket = connect(innerPort, '127.0.0.1');
      innerSocket.on('error', () => {});
      socket.pipe(innerSocket).pipe(socket);
    });
  });
  const port = await listen(outer);
  return {
    url: `https://localhost:${port}`,
    waiting: () => held.length,
    completeHandshakes: () => held.splice(0).forEach((go) => void go()),
    requests: () => requests,
  };
}

async function prepare() {
  const server = await startHeldServer();
  const proxy = await start();
  await proxy.app.instances.add({
    name: 'prod',
    url: server.url,
    db: 'prod',
    user_id: 2,
    api_key: UPSTREAM_KEY,
    certificates: TEST_CERTIFICATE,
    allow_private: true,
    protocol: 'jsonrpc',
  });
  const { key, record } = await proxy.app.keys.create({ name: 'app' });
  return { server, proxy, id: record.id, headers: { 'x-proxy-api': key } };
}

const ON_PROD = { erp_instance: '{"name":"prod"}' };

test.each([
  ['execute', '/api/erp/execute', printCall('', { ...ON_PROD, action: '"unlink"' })],
  ['a shared read', '/api/erp/execute', printCall('', ON_PROD)],
  ['a batch', '/api/erp/execute', `[${printCall('', { ...ON_PROD, action: '"unlink"' })}]`],
])(
  'a call that waits for its connection is not sent for a key that was revoked meanwhile: %s',
  async (_what, path, body) => {
    const { server, proxy, id, headers } = await prepare();
    const waiting = send(proxy.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    await expect.poll(() => server.waiting()).toBe(2);
    await proxy.app.keys.revoke(id);
    server.completeHandshakes();
    const [answer] = [JSON.parse((await waiting).body.toString())].flat();
    expect(answer.error.data.type).toBe('unauthorized');
    expect(server.requests()).toBe(0);
    expect(proxy.app.databaseLimiters.states()).toMatchObject([{ running: 0, waiting: 0 }]);
  },
);

test('a call that waits for its connection is sent if nothing has changed', async () => {
  const { server, proxy, headers } = await prepare();
  const waiting = proxy.call(printCall('', { ...ON_PROD, action: '"unlink"' }), headers);
  await expect.poll(() => server.waiting()).toBe(2);
  server.completeHandshakes();
  expect((await waiting).json.result).toBe(true);
});

test('a write that waits for a retry fails if its instance became unreadable, and releases its idempotency key', async () => {
  let onFirst: (() => Promise<void>) | null = null;
  const sent: string[] = [];
  const upstream = await startUpstream(async (socket, { body }) => {
    if (!body.includes('unlink')) return answerLikeOdoo(socket, printResult('true'));
    sent.push(body.toString());
    const isFirst = onFirst !== null;
    await onFirst?.();
    onFirst = null;
    answerLikeOdoo(socket, isFirst ? ROLLED_BACK : printResult('true'));
  });
  closeAfterTest(upstream);
  const proxy = await start({ allow: [upstream.url], settings: { 'upstream.retries': '2' } });
  const { store, instances } = proxy.app;
  const instance = { url: upstream.url, db: 'prod', user_id: 2, api_key: UPSTREAM_KEY };
  await instances.add({ name: 'prod', ...instance, protocol: 'jsonrpc' });
  const row = await store.instances.findByName('prod');
  if (row === null) throw new Error('no instance');
  const { id, masterKeyId, body } = row;
  // The address is changed as if by hand in the store: the sealed key does not open with another address.
  const changed = body.replace(upstream.url, `${upstream.url}/odoo`);
  onFirst = async () => void (await store.instances.replace(id, 1, { masterKeyId, body: changed }));

  const call = printCall('', { ...ON_PROD, action: '"unlink"' });
  const { json } = await proxy.call(call, { 'idempotency-key': 'one' });
  expect(json.error.message).toMatch(/cannot use the key of this instance/);
  expect(sent).toHaveLength(1);
  expect(proxy.app.databaseLimiters.states()).toMatchObject([{ running: 0, waiting: 0 }]);

  await store.instances.replace(id, 2, { masterKeyId, body });
  const again = await proxy.call(call, { 'idempotency-key': 'one' });
  expect(again.json.result).toBe(true);
  expect(sent).toHaveLength(2);
});
