/** Tests the replacement of keys: when it happens, by which calls, and what happens on failures. */

import type { Instances } from '@erp-proxy/control/instances';
import {
  type AskOdoo,
  KeyRotationError,
  type OdooAnswer,
  type Question,
} from '@erp-proxy/control/key-rotation';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import {
  CREATED_AT,
  DAY_MS,
  HOUR_MS,
  PAUSE_MS,
  REFUSED,
  type RotationHarness,
  startHarness,
} from './rotation-harness.ts';

let harness: RotationHarness;
afterEach(() => harness.close());

const readKey = async () => (await harness.instances.get('prod'))?.key;
const countCalls = (method: string) => harness.sandbox.requests.calls[`res.users.apikeys.${method}`] ?? 0;

/** Replaces the answers to some calls. `undefined` passes the call to Odoo. */
function answerInstead(
  answer: (question: Question, apiKey: string) => OdooAnswer | undefined | Promise<OdooAnswer | undefined>,
): AskOdoo {
  return async (record, apiKey, question) =>
    (await answer(question, apiKey)) ?? harness.ask(record, apiKey, question);
}

describe('a key is replaced in time:', () => {
  test.each([
    ['a third of 90 days is left', 90, 60.1, true],
    ['more than a third of 90 days is left', 90, 59.9, false],
    ['30 days of a year are left', 365, 335.1, true],
    ['31 days of a year are left', 365, 334, false],
    ['seven hours of a day are left', 1, 17 / 24, true],
    ['nine hours of a day are left', 1, 15 / 24, false],
    ['it never expires', null, 400, false],
  ])('%s: lifetime %s days, at day %s', async (_, keyDays, nowDays, isDue) => {
    harness = await startHarness({ keyDays, nowDays });
    await harness.openRotation().checkAll();
    expect((await harness.storedKey()) !== harness.user.apiKey).toBe(isDue);
    expect(countCalls('generate') > 0).toBe(isDue);
  });

  test('not without `rotate_key`', async () => {
    harness = await startHarness({ rotate: false, nowDays: 89 });
    await harness.openRotation().checkAll();
    expect(await harness.storedKey()).toBe(harness.user.apiKey);
    expect(countCalls('generate')).toBe(0);
  });

  test('by the expiry that the operator gave', async () => {
    const keyExpiresAt = new Date(CREATED_AT + 80 * DAY_MS).toISOString();
    harness = await startHarness({ keyDays: null, keyExpiresAt, nowDays: 70 });
    await harness.openRotation().checkAll();
    expect(await harness.storedKey()).not.toBe(harness.user.apiKey);
  });

  test('the new key lasts 89 days, and is replaced in turn', async () => {
    harness = await startHarness();
    const rotation = harness.openRotation();
    const start = harness.now();
    await rotation.checkAll();
    const first = await harness.storedKey();
    expect(await readKey()).toMatchObject({ expiresAt: start + 89 * DAY_MS, isExpiryKnown: true });
    harness.advance(PAUSE_MS);
    await rotation.checkAll();
    harness.advance(61 * DAY_MS);
    await rotation.checkAll();
    expect(await harness.storedKey()).not.toBe(first);
  });
});

describe('the old key', () => {
  test('works until the calls that began with it have ended', async () => {
    harness = await startHarness();
    const rotation = harness.openRotation();
    await rotation.checkAll();
    expect((await readKey())?.pendingStep).toBe('revoking');
    harness.advance(300_000);
    await rotation.checkAll();
    expect(await harness.callWith(harness.user.apiKey)).toMatchObject({ kind: 'result' });
    harness.advance(PAUSE_MS - 300_000);
    await rotation.checkAll();
    expect(await harness.callWith(harness.user.apiKey)).toEqual(REFUSED);
    expect(await harness.listKeys()).toMatchObject({
      all: [expect.stringMatching(/^erp-proxy prod 2027-01-30/)],
    });
    expect(harness.events.map(({ kind }) => kind)).toEqual(['rotated', 'revoked']);
  });

  test('is revoked in a later attempt if Odoo did not remove it', async () => {
    harness = await startHarness();
    let isOpen = false;
    const rotation = harness.openRotation({
      ask: answerInstead(({ method }) =>
        method === 'revoke' && !isOpen
          ? { kind: 'refused', type: 'user_error', message: 'Not now' }
          : undefined,
      ),
    });
    await rotation.checkAll();
    harness.advance(PAUSE_MS);
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({
      pendingStep: 'revoking',
      failure: expect.stringMatching(/did not remove the old one \("Not now"\).*by hand/),
    });
    expect(await harness.callWithStoredKey()).toMatchObject({ kind: 'result' });
    isOpen = true;
    harness.advance(2 * HOUR_MS);
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ pendingStep: null, failure: null });
    expect(await harness.callWith(harness.user.apiKey)).toEqual(REFUSED);
  });
});

describe('on demand', () => {
  test('a key is replaced whatever its expiry, also without `rotate_key`', async () => {
    harness = await startHarness({ rotate: false, keyDays: null, user: 'admin' });
    await harness.openRotation().rotate('prod');
    expect(await harness.storedKey()).not.toBe(harness.user.apiKey);
    expect(await readKey()).toMatchObject({ expiresAt: harness.now() + 89 * DAY_MS });
  });

  test('a key is not replaced while its predecessor is not revoked, but can be afterwards', async () => {
    harness = await startHarness();
    const rotation = harness.openRotation();
    await rotation.rotate('prod');
    const first = await harness.storedKey();
    await expect(rotation.rotate('prod')).rejects.toThrow(/a few minutes ago.*try again/);
    harness.advance(PAUSE_MS);
    await rotation.rotate('prod');
    expect(await harness.storedKey()).not.toBe(first);
    expect(await harness.callWith(harness.user.apiKey)).toEqual(REFUSED);
  });

  test('an unknown instance is refused', async () => {
    harness = await startHarness();
    await expect(harness.openRotation().rotate('shop')).rejects.toThrow('no instance of this name');
  });

  test('of concurrent requests one runs, and the others are refused', async () => {
    harness = await startHarness();
    const [one, other] = [harness.openRotation(), harness.openRotation({ owner: 'other' })];
    const outcomes = await Promise.allSettled([one.rotate('prod'), other.rotate('prod'), one.rotate('prod')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(countCalls('generate')).toBe(1);
  });
});

test('two replicas that check at the same time make one key', async () => {
  harness = await startHarness();
  await Promise.all([harness.openRotation().checkAll(), harness.openRotation({ owner: 'other' }).checkAll()]);
  expect((await harness.listKeys()).ours).toHaveLength(1);
  expect(harness.errors).toEqual([]);
});

test('two processes without a common lease still leave one key of the proxy', async () => {
  harness = await startHarness();
  const leases = { acquire: async () => true, release: async () => {} };
  const [one, other] = [harness.openRotation({ leases }), harness.openRotation({ leases, owner: 'other' })];
  await Promise.all([one.checkAll(), other.checkAll()]);
  for (let checks = 0; checks < 4; checks++) {
    harness.advance(2 * HOUR_MS);
    await Promise.all([one.checkAll(), other.checkAll()]);
    expect(await harness.callWithStoredKey()).toMatchObject({ kind: 'result' });
  }
  expect((await harness.listKeys()).all).toHaveLength(1);
});

describe('a failure says what to do, and the old key stays:', () => {
  const expectFailure = async (failure: RegExp) => {
    await harness.openRotation().checkAll();
    expect(await readKey()).toMatchObject({ failure: expect.stringMatching(failure), pendingStep: null });
    expect(await harness.storedKey()).toBe(harness.user.apiKey);
    expect(harness.events).toContainEqual({
      kind: 'failed',
      instance: 'prod',
      failure: expect.stringMatching(failure),
    });
  };

  test('Odoo 18 cannot make keys by call', async () => {
    harness = await startHarness({ version: 18 });
    await expectFailure(/cannot make keys by call.*by hand/);
  });

  test('a user who may not make keys', async () => {
    harness = await startHarness({ programmaticKeys: false });
    await expectFailure(/base\.enable_programmatic_api_keys.*True/);
  });

  test('another instance has the same key', async () => {
    harness = await startHarness();
    await harness.instances.add({
      name: 'a',
      url: harness.sandbox.url,
      db: harness.sandbox.db,
      user_id: harness.user.userId,
      api_key: harness.user.apiKey,
      allow_private: true,
    });
    await expectFailure(/instance "a" has the same key/);
    expect(countCalls('generate')).toBe(0);
  });

  test('a user with ten keys', async () => {
    harness = await startHarness({ user: 'admin' });
    const { record, apiKey } = (await harness.instances.openKey('prod')) ?? expect.fail();
    for (let made = 0; made < 9; made++) {
      const keyword = { key: apiKey, scope: 'rpc', name: `other ${made}`, expiration_date: '2028-01-01' };
      await harness.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
    }
    const expiresAt = CREATED_AT + 90 * DAY_MS;
    await harness.instances.update(record, {
      key_expires_at: new Date(expiresAt).toISOString(),
    });
    await expectFailure(/Limit of 10 API keys.*Remove keys/);
  });

  test('a stored key that has expired', async () => {
    harness = await startHarness({
      nowDays: 91,
      keyExpiresAt: new Date(CREATED_AT + 90 * DAY_MS).toISOString(),
    });
    await expectFailure(/living API key.*by hand/);
  });

  test('the next attempt follows after an hour, or at once if the operator changed the instance', async () => {
    harness = await startHarness({ programmaticKeys: false });
    const rotation = harness.openRotation();
    await rotation.checkAll();
    await rotation.checkAll();
    expect(countCalls('generate')).toBe(1);
    harness.advance(1.2 * HOUR_MS);
    await rotation.checkAll();
    expect(countCalls('generate')).toBe(2);
    const record = (await harness.instances.get('prod')) ?? expect.fail();
    await harness.instances.update(record, { timeout_ms: 5000 });
    await rotation.checkAll();
    expect(countCalls('generate')).toBe(3);
  });

  test('a rotation on demand rejects with the failure', async () => {
    harness = await startHarness({ version: 18 });
    await expect(harness.openRotation().rotate('prod')).rejects.toThrow(KeyRotationError);
  });
});

test('a key gets the longest lifetime that Odoo allows the user', async () => {
  harness = await startHarness();
  const rotation = harness.openRotation({
    ask: answerInstead(({ method, keyword }) =>
      method === 'generate' &&
      Date.parse(`${String(keyword['expiration_date'])}Z`) > harness.now() + 7 * DAY_MS
        ? { kind: 'refused', type: 'validation_error', message: 'You cannot exceed 7.0 days.' }
        : undefined,
    ),
  });
  await rotation.checkAll();
  expect(await readKey()).toMatchObject({ expiresAt: harness.now() + 6.5 * DAY_MS, failure: null });
});

describe('a server with wrong or lost answers', () => {
  test.each([
    ['no text', 7],
    ['nothing', null],
    ['a text that is no key', 'no key\r\nx: y'],
    ['the key that it was given', '5a17b0c5de302222222222222222222222222222'],
  ])('gives %s as the new key: the old one stays', async (_, value) => {
    harness = await startHarness();
    const rotation = harness.openRotation({
      ask: answerInstead(({ method }) => (method === 'generate' ? { kind: 'result', value } : undefined)),
    });
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({
      failure: expect.stringContaining('gave none'),
      pendingStep: null,
    });
    expect(await harness.storedKey()).toBe(harness.user.apiKey);
  });

  test.each(['jsonrpc', 'json2'] as const)(
    'gives the key of another user as the new one: it is never used (%s)',
    async (protocol) => {
      harness = await startHarness({ protocol });
      const value = harness.sandbox.users.admin.apiKey;
      const rotation = harness.openRotation({
        ask: answerInstead(({ method }) => (method === 'generate' ? { kind: 'result', value } : undefined)),
      });
      await rotation.checkAll();
      expect(await readKey()).toMatchObject({
        failure: expect.stringMatching(/does not open the user.*by hand: "erp-proxy prod 2027-01-30/),
        pendingStep: null,
      });
      expect(await harness.storedKey()).toBe(harness.user.apiKey);
      expect(await harness.callWithStoredKey()).toMatchObject({ kind: 'result' });
    },
  );

  test('loses every answer: no more keys are made after three lost ones', async () => {
    harness = await startHarness();
    const rotation = harness.openRotation({
      ask: async (record, apiKey, question) => {
        const answer = await harness.ask(record, apiKey, question);
        return question.method === 'generate' ? { kind: 'unanswered', message: 'reset' } : answer;
      },
    });
    for (let checks = 0; checks < 6; checks++) {
      await rotation.checkAll();
      harness.advance(2 * HOUR_MS);
    }
    expect((await harness.listKeys()).ours).toHaveLength(3);
    expect((await readKey())?.failure).toMatch(/Odoo has 3 keys.*Remove them/);
    expect(await harness.storedKey()).toBe(harness.user.apiKey);
  });

  test('loses two answers: the key in use does not count as lost', async () => {
    harness = await startHarness();
    let losses = 0;
    const rotation = harness.openRotation({
      ask: async (record, apiKey, question) => {
        const answer = await harness.ask(record, apiKey, question);
        const isLost = question.method === 'generate' && losses-- > 0;
        return isLost ? { kind: 'unanswered', message: 'reset' } : answer;
      },
    });
    await rotation.rotate('prod');
    harness.advance(PAUSE_MS);
    losses = 2;
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(rotation.rotate('prod')).rejects.toThrow(/nobody knows its text/);
    await rotation.rotate('prod');
    harness.advance(PAUSE_MS);
    await rotation.checkAll();
    expect((await harness.listKeys()).ours).toHaveLength(3);
  });

  test('does not answer the check of the new key: a later check succeeds, and the key is used', async () => {
    harness = await startHarness();
    let isAway = true;
    const rotation = harness.openRotation({
      ask: answerInstead(({ method }) =>
        method === 'context_get' && isAway ? { kind: 'unanswered', message: 'HTTP 502' } : undefined,
      ),
    });
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({
      pendingStep: 'proving',
      failure: expect.stringContaining('HTTP 502'),
    });
    expect(await harness.storedKey()).toBe(harness.user.apiKey);
    isAway = false;
    harness.advance(2 * HOUR_MS);
    await rotation.checkAll();
    expect(await readKey()).toMatchObject({ pendingStep: 'revoking', failure: null });
    expect(countCalls('generate')).toBe(1);
  });
});

describe('a change by the operator during a rotation takes precedence', () => {
  /** Runs `work` before the first write of this step. */
  function runBefore(step: 'proving' | 'revoking', work: () => Promise<unknown>): Instances {
    let isDone = false;
    return {
      ...harness.instances,
      async changeKey(from, change) {
        if (change.pending?.step === step && !isDone) {
          isDone = true;
          await work();
        }
        return harness.instances.changeKey(from, change);
      },
    };
  }

  const giveKey = async () => {
    const { record, apiKey } = (await harness.instances.openKey('prod')) ?? expect.fail();
    const keyword = { key: apiKey, scope: null, name: 'by hand', expiration_date: '2027-04-20' };
    const made = await harness.ask(record, apiKey, {
      model: 'res.users.apikeys',
      method: 'generate',
      keyword,
    });
    const api_key = made.kind === 'result' ? String(made.value) : expect.fail();
    const key_expires_at = '2027-04-20T00:00:00Z';
    expect(await harness.instances.update(record, { api_key, key_expires_at })).toBe('done');
    return api_key;
  };

  test.each(['proving', 'revoking'] as const)('another key, before the write of %s', async (step) => {
    harness = await startHarness();
    let given = '';
    const instances = runBefore(step, async () => {
      given = await giveKey();
    });
    const rotation = harness.openRotation({ instances });
    for (let checks = 0; checks < 4; checks++) {
      await rotation.checkAll();
      harness.advance(2 * HOUR_MS);
    }
    expect(await harness.storedKey()).toBe(given);
    expect((await harness.listKeys()).all.sort()).toEqual(['by hand', 'key of demo']);
    expect((await readKey())?.pendingStep).toBeNull();
  });

  test.each(['proving', 'revoking'] as const)(
    'removal before the write of %s: the new key is revoked too',
    async (step) => {
      harness = await startHarness();
      const { record, apiKey } = (await harness.instances.openKey('prod')) ?? expect.fail();
      const instances = runBefore(step, async () => {
        const present = (await harness.instances.get('prod')) ?? expect.fail();
        expect(await harness.instances.remove(present)).toBe('done');
      });
      await harness.openRotation({ instances }).checkAll();
      const keys = await harness.ask(record, apiKey, {
        model: 'res.users.apikeys',
        method: 'search_count',
        keyword: { domain: [['user_id', '=', record.userId]] },
      });
      expect(keys).toEqual({ kind: 'result', value: 1 });
    },
  );
});

describe('an instance that is removed, and added again with another server during a step, is another one:', () => {
  const OTHER_URL = 'https://other.example.com';
  const asked: string[] = [];
  beforeEach(() => {
    asked.splice(0);
  });

  /** Adds the instance again after Odoo has answered this method. */
  function addAgainAfter(method: string, answerInstead?: OdooAnswer): AskOdoo {
    let isDone = false;
    return async (record, apiKey, question) => {
      asked.push(`${record.url} ${question.method}`);
      const answer = await harness.ask(record, apiKey, question);
      if (question.method !== method || isDone) return answer;
      isDone = true;
      const { instances } = harness;
      await instances.remove((await instances.get('prod')) ?? expect.fail());
      const other = { url: OTHER_URL, db: 'other', user_id: 2, api_key: 'b2'.repeat(20) };
      await instances.add({ name: 'prod', ...other, rotate_key: true });
      return answerInstead ?? answer;
    };
  }

  /** Checks the key once, and returns the number of keys that the user then has at the first server. */
  async function checkWith(ask: AskOdoo): Promise<unknown> {
    const { record, apiKey } = (await harness.instances.openKey('prod')) ?? expect.fail();
    await harness.openRotation({ ask }).checkAll();
    const domain = [['user_id', '=', record.userId]];
    const question = { model: 'res.users.apikeys', method: 'search_count', keyword: { domain } };
    const answer = await harness.ask(record, apiKey, question);
    return answer.kind === 'result' ? answer.value : answer;
  }

  async function expectUntouched(): Promise<void> {
    const key = { expiresAt: null, isExpiryKnown: false, pendingStep: null, failure: null };
    expect(await harness.instances.get('prod')).toMatchObject({ url: OTHER_URL, version: 1, key });
    expect(asked.filter((each) => each.startsWith(OTHER_URL))).toEqual([]);
  }

  test('it gets no expiry that the old server told', async () => {
    harness = await startHarness({ nowDays: 10 });
    expect(await checkWith(addAgainAfter('search_read'))).toBe(1);
    await expectUntouched();
  });

  test('it gets no key that the old server made, which is revoked there', async () => {
    harness = await startHarness({ keyExpiresAt: new Date(CREATED_AT + 90 * DAY_MS).toISOString() });
    expect(await checkWith(addAgainAfter('generate'))).toBe(1);
    await expectUntouched();
    expect(asked.at(-1)).toBe(`${harness.sandbox.url} revoke`);
  });

  test('it gets no failure of the old server', async () => {
    harness = await startHarness({ keyExpiresAt: new Date(CREATED_AT + 90 * DAY_MS).toISOString() });
    await checkWith(addAgainAfter('generate', REFUSED));
    await expectUntouched();
    expect(harness.events.map(({ kind }) => kind)).toContain('failed');
  });
});

test.each([false, true])(
  'a store that fails while the new key is written loses no key (written: %s)',
  async (isWritten) => {
    harness = await startHarness();
    let failures = 0;
    const rotation = harness.openRotation({
      instances: {
        ...harness.instances,
        async changeKey(from, change) {
          if (change.pending?.step !== 'proving' || failures++ > 0)
            return harness.instances.changeKey(from, change);
          if (isWritten) await harness.instances.changeKey(from, change);
          throw new Error('the store is away');
        },
      },
    });
    await rotation.checkAll();
    expect(harness.errors).toEqual([new Error('the store is away')]);
    expect((await harness.listKeys()).all).toHaveLength(isWritten ? 2 : 1);
    for (let checks = 0; checks < 4; checks++) {
      harness.advance(2 * HOUR_MS);
      await rotation.checkAll();
    }
    expect(await harness.storedKey()).not.toBe(harness.user.apiKey);
    expect((await harness.listKeys()).all).toHaveLength(1);
  },
);

test('events, failures, errors and states contain no key', async () => {
  harness = await startHarness();
  const keys = new Set<string>([harness.user.apiKey]);
  const rotation = harness.openRotation({
    ask: answerInstead(({ method }, apiKey) => {
      keys.add(apiKey);
      return method === 'revoke' ? { kind: 'refused', type: 'user_error', message: 'no' } : undefined;
    }),
  });
  await rotation.checkAll();
  harness.advance(PAUSE_MS);
  await rotation.checkAll();
  expect(keys.size).toBe(2);
  const shown = JSON.stringify([
    harness.events,
    harness.errors.map(String),
    rotation.states(),
    await readKey(),
  ]);
  for (const key of keys) expect(shown).not.toContain(key);
  expect(shown).toContain('did not remove');
});

test('a long server message with the stored key and control characters is masked, cleaned and cut', async () => {
  harness = await startHarness();
  const stored = harness.user.apiKey;
  const message = `\u001b[31m${stored}\r\n${'x'.repeat(5000)}`;
  const data = { name: 'odoo.exceptions.UserError', message, arguments: [message], context: {} };
  const upstream = await startUpstream((socket, { body }) => {
    const asked = body.toString();
    if (asked.includes('search_read')) answerLikeOdoo(socket, printResult('[]'));
    else if (asked.includes('"generate"')) answerLikeOdoo(socket, printResult(`"${'f'.repeat(40)}"`));
    else answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 0, message, data } }));
  });
  try {
    const record = (await harness.instances.get('prod')) ?? expect.fail();
    await harness.instances.update(record, { url: upstream.url, api_key: stored });
    await expect(harness.openRotation().rotate('prod')).rejects.toThrow('trying the new key');
    const { failure } = (await readKey()) ?? expect.fail();
    expect(failure).toMatch(/trying the new key/);
    expect(failure?.length).toBeLessThan(500);
    expect(failure).not.toMatch(/\p{Cc}/u);
    expect(JSON.stringify([harness.events, failure])).not.toContain(stored);
  } finally {
    await upstream.close();
  }
});

test('a process without `storesFailures` does not store its failure', async () => {
  harness = await startHarness();
  const ask: AskOdoo = async () => ({ kind: 'unanswered', message: 'closed by the settings here' });
  const rotation = harness.openRotation({ ask, storesFailures: false });
  await expect(rotation.rotate('prod')).rejects.toThrow('closed by the settings here');
  expect(await readKey()).toMatchObject({ failure: null });
});

test('closing waits for the running step, and takes no further one', async () => {
  harness = await startHarness();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const rotation = harness.openRotation({
    ask: answerInstead(async ({ method }) => {
      if (method !== 'generate') return undefined;
      asked.resolve();
      await answered.promise;
      return undefined;
    }),
  });
  const checking = rotation.checkAll();
  await asked.promise;
  const closed = rotation.close();
  answered.resolve();
  await closed;
  await checking;
  expect((await readKey())?.pendingStep).toBe('proving');
  expect(await harness.storedKey()).toBe(harness.user.apiKey);
});
