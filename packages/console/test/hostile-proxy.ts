/**
 * Starts a proxy whose objects and records have hostile and very long values, with the paths of all pages that show
 * them.
 */

import { randomUUID } from 'node:crypto';
import { findVersion, makeAdminAction, makeCall } from '@erp-proxy/control/testing';
import { startSandbox } from '../../sandbox/src/index.ts';
import { startProxy } from '../../server/test/harness.ts';
import { AUDIENCE, describeIssuer, startIssuer } from '../../server/test/tokens/issuer.ts';
import { addConsent } from './add-consent.ts';
import { ADMIN_TOKEN, askAdmin, MASTER_KEY, type SeededProxy } from './seed-proxy.ts';

const MARKUP = '<script>alert(1)</script><img src=x onerror=alert(2)>';
const ONE_WORD = 'x'.repeat(60);
/** Characters that reverse the order of others, and letters that are written from right to left. */
const REVERSED = '\u202Egnp.exe\u202C \u05DE\u05E4\u05EA\u05D7 \u05E9\u05DC \u05D4\u05D7\u05E0\u05D5\u05EA';
/** The longest name that the proxy accepts. */
const LONG_NAME = `name-${'n'.repeat(59)}`;
const LONG_PERSONS_NAME = `persons-${'p'.repeat(56)}`;
const LONG_KEY_NAME = `${MARKUP} ${'K'.repeat(199 - MARKUP.length)}`;
const LONG_MODEL = `x_${'m'.repeat(100)}.${'n'.repeat(90)}`;
const LONG_URL = `http://127.0.0.1:9/${'path/'.repeat(60)}`;
const WEEK_MS = 7 * 86_400_000;

export interface HostileProxy extends SeededProxy {
  /** Paths by name. On pages whose name begins with `playground-`, the call is made. */
  paths: Record<string, string>;
}

export async function startHostileProxy(): Promise<HostileProxy> {
  const sandbox = await startSandbox({ version: 18 });
  const issuer = await startIssuer();
  const proxy = await startProxy({
    allow: [sandbox.url, 'http://127.0.0.1:9'],
    settings: {
      'admin.token': ADMIN_TOKEN,
      'console.enabled': 'true',
      'vault.masterKey': MASTER_KEY,
      'upstream.protocol': 'auto',
      'auth.issuers': JSON.stringify([describeIssuer(issuer)]),
      'http.publicUrl': AUDIENCE,
    },
  });
  const ask = askAdmin(proxy.url);
  const transaction = sandbox.begin();
  transaction.write('res.partner', [9], { name: `${MARKUP} ${REVERSED} ${ONE_WORD.repeat(20)}` });
  transaction.commit();

  const { userId, apiKey } = sandbox.users.admin;
  const server = { url: sandbox.url, db: sandbox.db, user_id: userId, api_key: apiKey };
  await ask('POST', '/instances', { ...server, name: 'prod' });
  await ask('POST', '/instances', {
    ...server,
    url: LONG_URL,
    name: LONG_NAME,
    db: 'd'.repeat(63),
    key_expires_at: new Date(Date.now() - WEEK_MS).toISOString(),
  });
  const { instances } = proxy.app;
  await instances.changeKey(await findVersion(instances, LONG_NAME, 1), {
    failure: `${MARKUP} ${REVERSED} ${ONE_WORD.repeat(8)}`,
  });
  const key = await ask('POST', '/keys', {
    name: LONG_KEY_NAME,
    expires_at: new Date(Date.now() + WEEK_MS).toISOString(),
    policy: {
      instances: ['prod', LONG_NAME],
      models: { [LONG_MODEL]: ['read', 'a'.repeat(100)], 'res.*': ['*'] },
      fields: { [LONG_MODEL]: { deny: ['f'.repeat(80), 'vat'] } },
      approve: { 'res.partner': ['write'] },
    },
  });
  await ask('POST', `/keys/${key.id}/rotate`, { overlap_seconds: 86_400 });
  await ask('POST', '/denied-subjects', { id: `corp/${'s'.repeat(200)}` });
  const persons = { ...server, url: LONG_URL, name: LONG_PERSONS_NAME, identity: 'person' };
  await ask('POST', '/instances', { ...persons, user_id: null, api_key: null });
  const person = `corp/${'s'.repeat(200)}`;
  const { connections, store } = proxy.app;
  const connection = { person, login: `${MARKUP} ${REVERSED} ${ONE_WORD}`, userId: 8, apiKey };
  const made = await connections.put((await instances.find(LONG_PERSONS_NAME))!, {
    ...connection,
    keyExpiresAt: Date.now() + WEEK_MS,
  });
  await connections.changeKeys(made!, { failure: `${MARKUP} ${REVERSED} ${ONE_WORD.repeat(8)}` });
  await addConsent(proxy, {
    person,
    name: `${MARKUP} ${REVERSED} ${ONE_WORD}`,
    application: `https://agent.example.com/${ONE_WORD}`,
    address: `https://${ONE_WORD}.example.com`,
  });
  await store.operators.confirm({
    id: person,
    name: `${MARKUP} ${REVERSED} ${ONE_WORD}`,
    granted: '{}',
    confirmedAt: Date.now(),
  });
  await ask('POST', '/subscriptions', {
    name: LONG_NAME,
    instance: LONG_NAME,
    model: 'res.partner',
    fields: ['name', 'f'.repeat(60), 'g'.repeat(60)],
    domain: [['name', '=', `${MARKUP}${ONE_WORD}`]],
    url: `${LONG_URL}?${ONE_WORD.repeat(10)}`,
  });
  await store.jobs.add(
    {
      id: randomUUID(),
      client: key.client_id,
      key: key.id,
      route: 'export',
      requestId: randomUUID(),
      facts: JSON.stringify({
        instance: LONG_NAME,
        model: LONG_MODEL,
        action: `${MARKUP}${'a'.repeat(180)}`,
      }),
      secret: '',
      name: null,
      fingerprint: '',
      callback: null,
      body: [],
      createdAt: Date.now(),
    },
    { clientMax: 1, waitingMax: 1, bytesMax: 1 },
  );
  const call = (action: string, params: unknown[], members: object = {}) =>
    proxy.call(
      { id: 1, model_id: 'res.partner', action, params, erp_instance: { name: 'prod' }, ...members },
      { 'x-proxy-api': key.key },
    );
  await call('read', [[9]]);
  await call('read', [[9]], { model_id: 'no.such.model' });
  await call('write', [[9], { name: `${MARKUP} ${REVERSED}`, comment: ONE_WORD.repeat(30) }]);
  const hostile = {
    model: LONG_MODEL,
    method: `${MARKUP}${'a'.repeat(180)}`,
    instance: LONG_NAME,
    upstream: LONG_URL.slice(0, 250),
    db: 'd'.repeat(63),
  };
  const { audit } = proxy.app;
  audit.recordCall(
    makeCall({ ...hostile, keyId: key.id, clientId: key.id, rule: `models["${LONG_MODEL}"]` }),
  );
  audit.recordCall(makeCall({ ...hostile, keyId: `corp/${'s'.repeat(200)}`, outcome: 'policy_denied' }));
  await audit.recordAdminAction(
    makeAdminAction({
      actor: { type: 'command', id: `cli:${ONE_WORD}@${ONE_WORD}`, name: `${ONE_WORD}@${ONE_WORD}` },
      target: `instance ${LONG_NAME}`,
      changes: { name: { from: `${MARKUP} ${REVERSED}`, to: ONE_WORD.repeat(30) } },
    }),
  );
  await audit.flush();
  const { items: records } = await ask('GET', '/audit?limit=100');
  const { items: approvals } = await ask('GET', '/approvals');
  const find = (action: string) => records.find((record: { action: string }) => record.action === action).seq;
  const form = (members: Record<string, string | object>) => {
    const texts = Object.entries(members).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    return new URLSearchParams(texts);
  };
  return {
    url: proxy.url,
    ask,
    paths: {
      overview: '/',
      'playground-empty': '/playground',
      'playground-answer': `/playground?${form({ instance: 'prod', model: 'res.partner', action: 'read', args: { ids: '[9]' } })}`,
      'playground-error': `/playground?${form({ instance: 'prod', model: LONG_MODEL, action: 'search_read' })}`,
      'playground-domain': `/playground?${form({ instance: 'prod', model: 'res.partner', args: { domain: JSON.stringify([['name', 'ilike', `${MARKUP}${ONE_WORD}`]]), fields: '["name"]' } })}`,
      calls: '/calls',
      'calls-drawer': `/calls?record=${find('read')}`,
      'call-long': `/calls/${records.find((record: { instance?: string }) => record.instance === LONG_NAME).seq}`,
      'admin-action': `/calls/${find('key.update')}`,
      keys: '/keys',
      'keys-denied': '/keys/denied-subjects',
      'key-new': '/keys/new',
      key: `/keys/${key.id}`,
      'key-policy': `/keys/${key.id}?tab=policy`,
      people: '/people',
      'people-sign-ins': '/people/sign-ins',
      'people-applications': '/people/applications',
      instances: '/instances',
      'instance-persons': `/instances/${LONG_PERSONS_NAME}?tab=settings`,
      'instance-new': '/instances/new',
      instance: `/instances/${LONG_NAME}`,
      'instance-settings': `/instances/${LONG_NAME}?tab=settings`,
      fleet: '/fleet',
      jobs: '/jobs',
      subscriptions: '/subscriptions',
      'subscription-new': '/subscriptions/new',
      subscription: `/subscriptions/${LONG_NAME}`,
      'subscription-deliveries': `/subscriptions/${LONG_NAME}?tab=deliveries`,
      'subscription-settings': `/subscriptions/${LONG_NAME}?tab=settings`,
      'subscription-verify': `/subscriptions/${LONG_NAME}?tab=verify`,
      approvals: '/approvals?state=all',
      'approvals-waiting': '/approvals',
      approval: `/approvals/${approvals[0].id}`,
      start: '/start',
      'start-key': `/start?step=key&instance=${LONG_NAME}`,
      'start-call': `/start?step=call&instance=prod&key=${key.id}`,
      'start-code': `/start?step=code&instance=${LONG_NAME}&key=${key.id}`,
      missing: `/keys/no/such/${ONE_WORD.repeat(4)}`,
    },
    async close() {
      await proxy.close();
      await Promise.all([sandbox.close(), issuer.close()]);
    },
  };
}
