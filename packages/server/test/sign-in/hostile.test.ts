/** Requests that no application sends: each gets an answer, and none is a failure of the proxy. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { Application, Browser } from './application.ts';
import { allow, startStage } from './stage.ts';

const CASES = process.env['TEST_LONG'] === undefined ? 60 : 3000;
const FORM = 'application/x-www-form-urlencoded';

const NAMES = [
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'state', 'resource', 'scope', 'prompt'],
  ...['code_challenge', 'code_challenge_method', 'grant_type', 'code', 'refresh_token', 'code_verifier'],
  ...['client_secret', 'token', 'token_type_hint', 'request', 'request_uri', 'claims', 'nonce', 'max_age'],
  ...['id_token_hint', 'registration', 'client_assertion', 'client_assertion_type', '__proto__', 'answer'],
];

test('parameters and bodies of any kind', async () => {
  const stage = await startStage();
  const { application, tokens, end } = await allow(stage);
  const values = [
    ...['', ' ', 'code', 'token', 'query', 'form_post', 'fragment', 'web_message', 'none', 'login', 'S256'],
    ...[
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'implicit',
      '\0',
      '%',
      '\ud800',
      '[]',
      '{}',
    ],
    ...[application.clientId, application.redirectUri, tokens.access_token, stage.url, 'https://x.example/y'],
    ...[`${stage.url}/mcp`, 'x'.repeat(5000), 'javascript:alert(1)', end.url, '-1', '1e9', 'mcp erp openid'],
  ];
  const parameters = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...values)), {
    maxLength: 12,
  });
  const paths = [
    '/oauth/authorize',
    '/oauth/authorize/x',
    '/oauth/token',
    '/oauth/register',
    '/oauth/revoke',
  ];
  const question = fc.record({
    path: fc.constantFrom(...paths, '/oauth/sign-in/x', '/oauth/sign-in/x/start', '/oauth/jwks'),
    method: fc.constantFrom('GET', 'POST', 'OPTIONS', 'HEAD', 'PUT', 'DELETE'),
    type: fc.constantFrom(FORM, 'application/json', 'text/plain', 'multipart/form-data', ''),
    body: fc.oneof(parameters.map(printForm), fc.json(), fc.string(), fc.constant('x'.repeat(70_000))),
    query: parameters.map(printForm),
    cookie: fc.constantFrom('', 'ep_oauth=x; ep_oauth.sig=y', 'ep_oauth_resume=x', 'ep_oauth=', '='),
  });
  await fc.assert(
    fc.asyncProperty(question, async ({ path, method, type, body, query, cookie }) => {
      const hasBody = method === 'POST' || method === 'PUT';
      const { status, headers } = await send(`${stage.url}${path}?${query}`, {
        method,
        headers: {
          accept: 'text/html',
          'sec-fetch-site': 'same-origin',
          ...(type === '' ? {} : { 'content-type': type }),
          ...(cookie === '' ? {} : { cookie }),
        },
        ...(hasBody ? { body } : {}),
      });
      expect(status).toBeLessThan(500);
      const location = String(headers.location ?? stage.url);
      expect(location.startsWith(stage.url) || location.startsWith(application.redirectUri)).toBe(true);
    }),
    { numRuns: CASES },
  );
  expect(stage.proxy.log.filter(({ level }) => level === 'error')).toEqual([]);
  expect((await application.refresh(tokens.refresh_token)).status).toBe(200);
});

function printForm(parameters: readonly (readonly [string, string])[]): string {
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&');
}

test('a request that was tampered with in its cookies is refused', async () => {
  const stage = await startStage();
  const application = new Application(stage.url);
  await application.register();
  const [one, two] = [new Browser(), new Browser()];
  one.stopsAt.push(stage.provider.url);
  two.stopsAt.push(stage.provider.url);
  const begin = async (browser: Browser) => {
    const { headers } = await browser.ask(application.address());
    return String(headers.location);
  };
  const [own, foreign] = [await begin(one), await begin(two)];
  // The cookies of one sign-in for the page of another one.
  const swapped = new Browser();
  const id = (url: string) => url.split('/').at(-1)!;
  swapped.cookies = one.cookies.map((cookie) => ({
    ...cookie,
    path: cookie.path.replace(id(own), id(foreign)),
    value: cookie.value.replace(id(own), id(foreign)),
  }));
  expect((await swapped.go(foreign)).status).toBe(400);
});
