/** What ends the tokens of an application, and what does not. */
import { describe, expect, test } from 'vitest';
import { send } from '../harness.ts';
import { CLIENT_ID } from '../operators/scripted-provider.ts';
import { signToken } from '../tokens/issuer.ts';
import { Application, Browser } from './application.ts';
import {
  ADMIN_TOKEN,
  allow,
  answerOfProvider,
  call,
  listTools,
  type Stage,
  signIn,
  startStage,
} from './stage.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A stage whose clock the test moves. Its sessions at the provider last for an hour. */
async function start(options: Parameters<typeof startStage>[0] = {}) {
  const time = { passedMs: 0 };
  const stage = await startStage({ clock: () => Date.now() + time.passedMs, ...options });
  stage.provider.now = () => Math.floor((Date.now() + time.passedMs) / 1000);
  return { time, stage };
}

const statusOf = async (stage: Stage, token: string) => (await listTools(stage, token)).status;
const listEnds = (stage: Stage) =>
  stage.proxy.log.filter(({ msg }) => msg === 'application ended').map(({ reason }) => reason);

describe('the 101st consent of a person', () => {
  test('ends the oldest, with a record', async () => {
    const { stage } = await start();
    const { tokens } = await allow(stage);
    const first = (await stage.admin('GET', '/applications')).json.items[0];
    const { consents } = stage.proxy.app;
    const consent = (await consents.find(first.id))!;
    for (let count = 1; count < 100; count++)
      await consents.add({ ...consent, id: `later-${count}`, createdAt: consent.createdAt + count });
    expect(await statusOf(stage, tokens.access_token)).toBe(200);
    await allow(stage);
    expect(await statusOf(stage, tokens.access_token)).toBe(401);
    const { json } = await stage.admin('GET', '/audit?limit=200');
    const ends = json.items.filter(({ action }: { action: string }) => action === 'application.withdraw');
    expect(ends).toEqual([expect.objectContaining({ actor: expect.objectContaining({ type: 'proxy' }) })]);
    expect(JSON.stringify(ends)).toContain(first.id);
  });
});

describe('refresh tokens', () => {
  test('are replaced with each use, and the earlier access token lives on', async () => {
    const { stage } = await start();
    const { application, tokens } = await allow(stage);
    const { json } = await application.refresh(tokens.refresh_token);
    expect(json.refresh_token).not.toBe(tokens.refresh_token);
    expect(await statusOf(stage, json.access_token)).toBe(200);
    expect(await statusOf(stage, tokens.access_token)).toBe(200);
  });

  test('used twice, they end all tokens of the family', async () => {
    const { stage } = await start();
    const { application, tokens } = await allow(stage);
    const next = (await application.refresh(tokens.refresh_token)).json;
    expect((await application.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    expect(await statusOf(stage, next.access_token)).toBe(401);
    expect((await application.refresh(next.refresh_token)).json.error).toBe('invalid_grant');
    expect(listEnds(stage)).toHaveLength(1);
    const { json } = await stage.admin('GET', '/audit?limit=20');
    expect(json.items).toContainEqual(
      expect.objectContaining({
        action: 'application.withdraw',
        actor: expect.objectContaining({ type: 'proxy' }),
      }),
    );
  });

  test('used twice at once, they give at most one token, which has ended', async () => {
    const { stage } = await start();
    const { application, tokens } = await allow(stage);
    const answers = await Promise.all([1, 2, 3, 4].map(() => application.refresh(tokens.refresh_token)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { json } of given) expect(await statusOf(stage, json.access_token)).toBe(401);
    expect((await stage.admin('GET', '/applications')).json.items).toEqual([]);
  });

  test('used again after days, they still end the family', async () => {
    const { stage, time } = await start();
    const { application, tokens } = await allow(stage);
    let last = tokens;
    for (let day = 0; day < 3; day++) {
      time.passedMs += DAY_MS;
      last = (await application.refresh(last.refresh_token)).json;
    }
    expect(await statusOf(stage, last.access_token)).toBe(200);
    expect((await application.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    expect(await statusOf(stage, last.access_token)).toBe(401);
  });

  test('that somebody makes up, or that are those of another application, end nothing', async () => {
    const { stage } = await start();
    const { application, tokens } = await allow(stage);
    const [consent = '', nonce = '', proof = ''] = tokens.refresh_token.split('.');
    const other = new Application(stage.url);
    await other.register();
    const attempts = [
      application.refresh(`${consent}.${'A'.repeat(nonce.length)}.${proof}`),
      application.refresh(`${consent}.${nonce}.${'A'.repeat(proof.length)}`),
      application.refresh(consent),
      other.refresh(tokens.refresh_token),
    ];
    for (const { json } of await Promise.all(attempts)) expect(json.error).toBe('invalid_grant');
    expect((await other.revoke(tokens.refresh_token)).status).toBe(200);
    expect((await application.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test('end two weeks after the last use, and with the consent', async () => {
    const { stage, time } = await start({ settings: { 'signIn.days': '20' } });
    const idle = await allow(stage);
    const used = await allow(stage);
    time.passedMs = 13 * DAY_MS;
    const next = (await used.application.refresh(used.tokens.refresh_token)).json;
    time.passedMs = 15 * DAY_MS;
    expect((await idle.application.refresh(idle.tokens.refresh_token)).json.error).toBe('invalid_grant');
    const last = (await used.application.refresh(next.refresh_token)).json;
    time.passedMs = 21 * DAY_MS;
    expect((await used.application.refresh(last.refresh_token)).json.error).toBe('invalid_grant');
  });
});

test('an application that revokes its token ends its consent', async () => {
  const { stage } = await start();
  const { application, tokens } = await allow(stage);
  expect((await application.revoke(tokens.refresh_token)).status).toBe(200);
  expect(await statusOf(stage, tokens.access_token)).toBe(401);
  expect((await stage.admin('GET', '/applications')).json.items).toEqual([]);
});

test('an access token ends after a quarter of an hour', async () => {
  const { stage, time } = await start();
  const { tokens } = await allow(stage);
  time.passedMs = 15 * MINUTE_MS;
  expect(await statusOf(stage, tokens.access_token)).toBe(200);
  time.passedMs = 17 * MINUTE_MS;
  expect(await statusOf(stage, tokens.access_token)).toBe(401);
});

test('a person lists and withdraws what they have allowed, and nobody else does', async () => {
  const { stage } = await start();
  const ada = await allow(stage);
  stage.provider.claims = { sub: 'bob' };
  const bob = await allow(stage);
  const person = new Browser();
  person.stopsAt.push(stage.provider.url, `${stage.url}/me`);
  const begun = await person.go(`${stage.url}/admin/v1/session/start?return_to=/me`);
  await person.go(answerOfProvider(stage.url, new URL(begun.url).searchParams));
  const own = async (path: string, method = 'GET') => {
    const { status, body } = await person.ask(`${stage.url}/me/applications${path}`, {
      method,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    return { status, json: body.length === 0 ? null : JSON.parse(body.toString()) };
  };
  const { json } = await own('');
  expect(json).toMatchObject({ person: 'corp/bob', applications: [{ name: 'Assistant', scopes: ['mcp'] }] });
  const [foreign] = (await stage.admin('GET', '/applications?person=corp%2Fada')).json.items;
  expect((await own(`/${foreign.id}`, 'DELETE')).status).toBe(404);
  expect((await own(`/${json.applications[0].id}`, 'DELETE')).status).toBe(204);
  expect((await own(`/${json.applications[0].id}`, 'DELETE')).status).toBe(404);
  expect(await statusOf(stage, bob.tokens.access_token)).toBe(401);
  expect(await statusOf(stage, ada.tokens.access_token)).toBe(200);
});

describe('a person', () => {
  test('who is denied gets nothing until they are allowed again', async () => {
    const { stage } = await start();
    const { application, browser, tokens } = await allow(stage);
    await stage.proxy.app.store.deniedSubjects.deny({ id: 'corp/ada', deniedAt: Date.now() });
    await expect.poll(() => statusOf(stage, tokens.access_token)).toBe(401);
    expect((await application.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
    const page = await signIn(stage, browser, application.address());
    expect(page).toMatchObject({ status: 403, text: expect.stringContaining('may not use this proxy') });
    await stage.proxy.app.store.deniedSubjects.allow('corp/ada');
    await expect.poll(() => statusOf(stage, tokens.access_token)).toBe(200);
    expect((await application.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test.each([[{ sub: 'ada' }], [{ sub: undefined, sid: 'session-1' }]])(
    'whom the provider signs out loses the tokens: %j',
    async (claims) => {
      const { stage } = await start();
      stage.provider.claims = { sid: 'session-1' };
      const ada = await allow(stage);
      stage.provider.claims = { sub: 'bob', sid: 'session-2' };
      const bob = await allow(stage);
      stage.provider.claims = { sid: 'session-1' };
      const late = new Browser();
      const question = await signIn(stage, late, ada.application.address());
      const now = stage.provider.now();
      const logout = {
        ...{ iss: stage.provider.url, aud: CLIENT_ID, iat: now, exp: now + 60, jti: 'one' },
        events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
        ...claims,
      };
      const answer = await send(`${stage.url}/admin/v1/session/backchannel`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          logout_token: signToken(stage.provider.key, logout, { typ: 'logout+jwt' }),
        }).toString(),
      });
      expect(answer.status).toBeLessThan(300);
      await expect.poll(() => statusOf(stage, ada.tokens.access_token)).toBe(401);
      expect((await ada.application.refresh(ada.tokens.refresh_token)).json.error).toBe('invalid_grant');
      expect(await statusOf(stage, bob.tokens.access_token)).toBe(200);
      const { json } = await stage.admin('GET', '/audit?limit=20');
      expect(json.items).toContainEqual(
        expect.objectContaining({
          action: 'application.withdraw',
          target: 'application https://app.example.com of corp/ada',
          actor: expect.objectContaining({ type: 'proxy' }),
        }),
      );
      // A question that was asked before has no answer.
      expect((await late.submit(question, { answer: 'allow' })).status).toBe(403);
    },
  );

  test('who was removed at the provider ends when it is asked again', async () => {
    const { stage, time } = await start();
    const { application, tokens } = await allow(stage);
    time.passedMs = 50 * MINUTE_MS;
    const next = (await application.refresh(tokens.refresh_token)).json;
    stage.provider.refreshTokens.clear();
    time.passedMs = 61 * MINUTE_MS;
    expect((await application.refresh(next.refresh_token)).json.error).toBe('invalid_grant');
    expect(await statusOf(stage, next.access_token)).toBe(401);
    expect(listEnds(stage)).toEqual([expect.stringContaining('invalid_grant')]);
  });

  test('who is denied while the page asks gives nothing, whatever the answer', async () => {
    const { stage } = await start();
    const application = new Application(stage.url);
    await application.register();
    const browser = new Browser();
    browser.stopsAt.push(application.redirectUri);
    const question = await signIn(stage, browser, application.address());
    await stage.proxy.app.store.deniedSubjects.deny({ id: 'corp/ada', deniedAt: Date.now() });
    expect(await browser.submit(question, { answer: 'allow' })).toMatchObject({ status: 403 });
    expect((await stage.admin('GET', '/applications')).json.items).toEqual([]);
  });

  test.each([[[]], [undefined]])(
    'whose claims change gets another policy when the provider is asked again: %j',
    async (groups) => {
      const rules = [
        {
          claim: 'groups',
          value: 'sales',
          policy: { instances: ['prod'], models: { 'sale.order': ['read'] } },
        },
        { claim: 'groups', value: 'readers', policy: 'own' },
      ];
      const { stage, time } = await start({ rules });
      stage.provider.claims = { groups: ['readers'] };
      const { application, tokens } = await allow(stage, { resource: stage.url });
      expect((await call(stage, tokens.access_token)).json.error.data.type).toBe('connect_required');
      stage.provider.claims = { groups: ['sales'] };
      time.passedMs = 61 * MINUTE_MS;
      const next = (await application.refresh(tokens.refresh_token)).json;
      expect((await call(stage, next.access_token)).json.error.data.type).toBe('policy_denied');
      stage.provider.claims = { groups };
      time.passedMs = 122 * MINUTE_MS;
      expect((await application.refresh(next.refresh_token)).json.error).toBe('invalid_grant');
    },
  );

  test('signs in again after an hour if the provider issues no refresh token', async () => {
    const { stage, time } = await start();
    stage.provider.issuesRefreshTokens = false;
    const { application, tokens } = await allow(stage);
    time.passedMs = 59 * MINUTE_MS;
    const next = (await application.refresh(tokens.refresh_token)).json;
    time.passedMs = 61 * MINUTE_MS;
    expect((await application.refresh(next.refresh_token)).json.error).toBe('invalid_grant');
  });
});

test('while the provider is away, applications go on for hours, nobody signs in, and keys work', async () => {
  const { stage, time } = await start();
  const { application, tokens, browser } = await allow(stage);
  stage.provider.isAway = true;
  time.passedMs = 2 * HOUR_MS;
  const next = (await application.refresh(tokens.refresh_token)).json;
  expect(await statusOf(stage, next.access_token)).toBe(200);
  time.passedMs = 6 * HOUR_MS;
  expect(await application.refresh(next.refresh_token)).toMatchObject({
    status: 503,
    json: { error: 'temporarily_unavailable' },
  });
  const page = await signIn(stage, browser, application.address());
  expect(page.text).toContain('The provider does not answer');
  const { status } = await stage.proxy.call({ id: 1, action: 'read', model_id: 'res.partner', params: [] });
  expect(status).not.toBe(503);
  expect(
    (await send(`${stage.url}/admin/v1/session`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }))
      .status,
  ).toBe(200);
  stage.provider.isAway = false;
  expect((await application.refresh(next.refresh_token)).status).toBe(200);
});
