/** Tests tokens of a real OpenID provider (oidc-provider): its discovery, its tokens, and a rotation of its keys. */
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall } from '../execute/expectations.ts';
import { send, startProxy } from '../harness.ts';
import { listenOnFreePort } from '../listen.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { AUDIENCE, describeIssuer, makeKey, READER, type SigningKey } from './issuer.ts';

const CLIENT = { client_id: 'shop', client_secret: 'secret of the shop' };

/** Starts the provider with this signing key. It prints notes about development. */
async function startProvider(first: SigningKey) {
  let current: Provider;
  const server = createServer((request, response) => current.callback()(request, response));
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const rotate = (...keys: SigningKey[]) => {
    current = new Provider(url, {
      clients: [{ ...CLIENT, redirect_uris: [], response_types: [], grant_types: ['client_credentials'] }],
      jwks: {
        keys: keys.map(({ privateKey, kid, alg }) => ({
          ...privateKey.export({ format: 'jwk' }),
          kid,
          alg,
          use: 'sig',
        })),
      },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: 'erp',
            audience: AUDIENCE,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 600,
            jwt: { sign: { alg: keys[0]!.alg } },
          }),
        },
      },
    });
  };
  rotate(first);
  return {
    url,
    rotate,
    async getToken(): Promise<string> {
      const { body, status } = await send(`${url}/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          ...CLIENT,
          grant_type: 'client_credentials',
          scope: 'erp',
          resource: AUDIENCE,
        }).toString(),
      });
      expect([status, body.toString()]).toEqual([200, expect.stringContaining('access_token')]);
      return JSON.parse(body.toString()).access_token;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

test('its tokens make calls, also after it has rotated its keys', async () => {
  const [first, second] = [makeKey('2026-01'), makeKey('2026-02')];
  const provider = closeAfterTest(await startProvider(first));
  const upstream = closeAfterTest(await startUpstream((socket) => answerLikeOdoo(socket, printResult('[]'))));
  const time = { nowMs: 0 };
  const proxy = closeAfterTest(
    await startProxy({
      allow: [upstream.url],
      nowMs: () => time.nowMs,
      settings: {
        'auth.issuers': JSON.stringify([
          describeIssuer(provider, {
            scopes: ['erp'],
            rules: [{ claim: 'client_id', value: 'shop', policy: READER }],
          }),
        ]),
        'http.publicUrl': AUDIENCE,
      },
    }),
  );
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = printCall(upstream.url, { action: '"read"' });
    return (await send(`${proxy.url}/api/erp/execute`, { method: 'POST', headers, body })).status;
  };

  const old = await provider.getToken();
  expect(await ask(old)).toBe(200);
  expect(proxy.log.find(({ msg }) => msg === 'call')).toMatchObject({ keyId: 'corp/shop' });

  // The provider adds a key and signs with it: the proxy reads the keys again at once.
  time.nowMs += 10_000;
  provider.rotate(second, first);
  const next = await provider.getToken();
  expect(await ask(next)).toBe(200);
  expect(await ask(old)).toBe(200);

  // The provider removes the old key: tokens signed with it are refused after the next reading of the keys.
  provider.rotate(second);
  time.nowMs += 600_000;
  await expect.poll(() => ask(old)).toBe(401);
  expect(await ask(next)).toBe(200);
});
