/** The official MCP client, given nothing but the address of the proxy, gets its tools by the person who signs in. */
import {
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { callTool, connectClient } from '../mcp/stage.ts';
import { Browser } from './application.ts';
import { connect, signIn, startStage } from './stage.ts';

const REDIRECT = 'http://localhost:41999/callback';

/** What an application keeps. The person is sent to `asked`. */
function createKeeper() {
  let information: StoredOAuthClientInformation | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = '';
  let discovered: OAuthDiscoveryState | undefined;
  const keeper = {
    asked: '',
    tokens: () => tokens,
    provider: {
      redirectUrl: REDIRECT,
      clientMetadata: {
        client_name: 'Official client',
        redirect_uris: [REDIRECT],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      state: () => 'state-of-the-client',
      clientInformation: () => information,
      saveClientInformation: (given) => {
        information = given;
      },
      tokens: () => tokens,
      saveTokens: (given) => {
        tokens = given;
      },
      redirectToAuthorization: (url) => {
        keeper.asked = url.href;
      },
      saveCodeVerifier: (given) => {
        verifier = given;
      },
      codeVerifier: () => verifier,
      saveDiscoveryState: (given) => {
        discovered = given;
      },
      discoveryState: () => discovered,
    } satisfies OAuthClientProvider as OAuthClientProvider,
  };
  return keeper;
}

test.each([
  [16, 'modern'],
  [18, 'legacy'],
  [19, 'modern'],
] as const)('on Odoo %i (%s)', async (version, mode) => {
  const time = { passedMs: 0 };
  const stage = await startStage({ version, clock: () => Date.now() + time.passedMs });
  stage.provider.now = () => Math.floor((Date.now() + time.passedMs) / 1000);
  const keeper = createKeeper();
  const open = () =>
    new StreamableHTTPClientTransport(new URL(`${stage.url}/mcp`), { authProvider: keeper.provider });
  const first = open();
  await expect(connectClient(first, { mode })).rejects.toThrow(UnauthorizedError);
  expect(new URL(keeper.asked).searchParams.get('resource')).toBe(`${stage.url}/mcp`);

  const browser = new Browser();
  browser.stopsAt.push('http://localhost:41999/');
  const page = await signIn(stage, browser, keeper.asked);
  expect(page.text).toContain('a program on this computer');
  const { url } = await browser.submit(page, { answer: 'allow' });
  await first.finishAuth(new URL(url).searchParams);

  await connect(stage, 'corp/ada', stage.sandbox.users.demo);
  const client = await connectClient(open(), { mode });
  const search = async () => {
    const found = await callTool(client, 'search_records', { model: 'res.partner', fields: ['name'] });
    expect(found).toMatchObject({ isError: false, text: expect.stringContaining('"name"') });
  };
  const users = new Set<number>();
  stage.sandbox.beforeCall(({ userId }) => void users.add(userId));
  await search();
  expect([...users]).toEqual([stage.sandbox.users.demo.userId]);

  // The client gets the next token by itself.
  const before = keeper.tokens();
  time.passedMs = 20 * 60_000;
  await search();
  expect(keeper.tokens()?.refresh_token).not.toBe(before?.refresh_token);
});
