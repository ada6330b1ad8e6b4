/** How keys are replaced: when, with which key each thing is asked, and what follows where something is in the way. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Instances } from '../../src/instances/instances.ts';
import type { AskOdoo, OdooAnswer, Question } from '../../src/key-rotation/ask-odoo.ts';
import { KeyRotationError } from '../../src/key-rotation/key-rotation.ts';
import { answerLikeOdoo, printResult, startUpstream } from '../scripted-upstream.ts';
import { CREATED_AT, DAY_MS, HOUR_MS, openStage, PAUSE_MS, REFUSED, type Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const readKey = async () => (await stage.instances.get('prod'))?.key;
const countCalls = (method: string) => stage.sandbox.requests.calls[`res.users.apikeys.${method}`] ?? 0;

/** Answers some questions otherwise; `undefined` leaves one to Odoo. */
function answerInstead(
  answer: (question: Question, apiKey: string) => OdooAnswer | undefined | Promise<OdooAnswer | undefined>,
): AskOdoo {
  return async (record, apiKey, question) =>
    (await answer(question, apiKey)) ?? stage.ask(record, apiKey, question);
}

describe('when', () => {
  test.each([
    ['a third of 90 days is left', 90, 60.1, true],
    ['more than a third of 90 days is left', 90, 59.9, false],
    ['30 days of a year are left', 365, 335.1, true],
    ['31 days of a year are left', 365, 334, false],
    ['seven hours of a day are left', 1, 17 / 24, true],
    ['nine hours of a day are left', 1, 15 / 24, false],
    ['it never ends', null, 400, false],
  ])('%s: %s days long, at day %s', async (_, keyDays, nowDays, isDue) => {
    stage = await openStage({ keyDays, nowDays });
    await stage.openCare().look();
    expect((await stage.storedKey()) !== stage.user.apiKey).toBe(isDue);
    expect(countCalls('generate') > 0).toBe(isDue);
  });

  test('a key that the operator did not give over to the proxy stays', async () => {
    stage = await openStage({ rotate: false, nowDays: 89 });
    await stage.openCare().look();
    expect(await stage.storedKey()).toBe(stage.user.apiKey);
    expect(countCalls('generate')).toBe(0);
  });

  test('a key that the operator dates is replaced by that date', async () => {
    const keyExpiresAt = new Date(CREATED_AT + 80 * DAY_MS).toISOString();
    stage = await openStage({ keyDays: null, keyExpiresAt, nowDays: 70 });
    await stage.openCare().look();
    expect(await stage.storedKey()).not.toBe(stage.user.apiKey);
  });

  test('the new key lasts 89 days, and is replaced in its turn', async () => {
    stage = await openStage();
    const care = stage.openCare();
    const start = stage.now();
    await care.look();
    const first = await stage.storedKey();
    expect(await readKey()).toMatchObject({ expiresAt: start + 89 * DAY_MS, isExpiryKnown: true });
    stage.advance(PAUSE_MS);
    await care.look();
    stage.advance(61 * DAY_MS);
    await care.look();
    expect(await stage.storedKey()).not.toBe(first);
  });
});

describe('the old key', () => {
  test('works until calls that began with it have ended, then no more', async () => {
    stage = await openStage();
    const care = stage.openCare();
    await care.look();
    expect((await readKey())?.pendingStep).toBe('revoking');
    stage.advance(300_000);
    await care.look();
    expect(await stage.callWith(stage.user.apiKey)).toMatchObject({ kind: 'result' });
    stage.advance(PAUSE_MS - 300_000);
    await care.look();
    expect(await stage.callWith(stage.user.apiKey)).toEqual(REFUSED);
    expect(await stage.listKeys()).toMatchObject({
      all: [expect.stringMatching(/^erp-proxy prod 2027-01-30/)],
    });
    expect(stage.events.map(({ kind }) => kind)).toEqual(['rotated', 'revoked']);
  });

  test('is tried again where Odoo did not remove it', async () => {
    stage = await openStage();
    let isOpen = false;
    const care = stage.openCare({
      ask: answerInstead(({ method }) =>
        method === 'revoke' && !isOpen
          ? { kind: 'refused', type: 'user_error', message: 'Not now' }
          : undefined,
      ),
    });
    await care.look();
    stage.advance(PAUSE_MS);
    await care.look();
    expect(await readKey()).toMatchObject({
      pendingStep: 'revoking',
      failure: expect.stringMatching(/did not remove the old one \("Not now"\).*by hand/),
    });
    expect(await stage.callWithStoredKey()).toMatchObject({ kind: 'result' });
    isOpen = true;
    stage.advance(2 * HOUR_MS);
    await care.look();
    expect(await readKey()).toMatchObject({ pendingStep: null, failure: null });
    expect(await stage.callWith(stage.user.apiKey)).toEqual(REFUSED);
  });
});

describe('on demand', () => {
  test('a key is replaced however long it lasts, also by an instance that is not given over', async () => {
    stage = await openStage({ rotate: false, keyDays: null, user: 'admin' });
    await stage.openCare().rotate('prod');
    expect(await stage.storedKey()).not.toBe(stage.user.apiKey);
    expect(await readKey()).toMatchObject({ expiresAt: stage.now() + 89 * DAY_MS });
  });

  test('not while the key before is still let go, and then again', async () => {
    stage = await openStage();
    const care = stage.openCare();
    await care.rotate('prod');
    const first = await stage.storedKey();
    await expect(care.rotate('prod')).rejects.toThrow(/a few minutes ago.*try again/);
    stage.advance(PAUSE_MS);
    await care.rotate('prod');
    expect(await stage.storedKey()).not.toBe(first);
    expect(await stage.callWith(stage.user.apiKey)).toEqual(REFUSED);
  });

  test('not where there is no such instance', async () => {
    stage = await openStage();
    await expect(stage.openCare().rotate('shop')).rejects.toThrow('no instance of this name');
  });

  test('one of two at once is told to wait', async () => {
    stage = await openStage();
    const [one, other] = [stage.openCare(), stage.openCare({ owner: 'other' })];
    const outcomes = await Promise.allSettled([one.rotate('prod'), other.rotate('prod'), one.rotate('prod')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(countCalls('generate')).toBe(1);
  });
});

test('two replicas that look at once make one key', async () => {
  stage = await openStage();
  await Promise.all([stage.openCare().look(), stage.openCare({ owner: 'other' }).look()]);
  expect((await stage.listKeys()).ours).toHaveLength(1);
  expect(stage.errors).toEqual([]);
});

test('two processes without a lease between them still leave one key of ours', async () => {
  stage = await openStage();
  const leases = { acquire: () => true, release: () => {} };
  const [one, other] = [stage.openCare({ leases }), stage.openCare({ leases, owner: 'other' })];
  await Promise.all([one.look(), other.look()]);
  for (let look = 0; look < 4; look++) {
    stage.advance(2 * HOUR_MS);
    await Promise.all([one.look(), other.look()]);
    expect(await stage.callWithStoredKey()).toMatchObject({ kind: 'result' });
  }
  expect((await stage.listKeys()).all).toHaveLength(1);
});

describe('where it cannot be, the operator is told what to do, and the old key stays', () => {
  const expectFailure = async (failure: RegExp) => {
    await stage.openCare().look();
    expect(await readKey()).toMatchObject({ failure: expect.stringMatching(failure), pendingStep: null });
    expect(await stage.storedKey()).toBe(stage.user.apiKey);
    expect(stage.events).toContainEqual({
      kind: 'failed',
      instance: 'prod',
      failure: expect.stringMatching(failure),
    });
  };

  test('18 makes no keys by call', async () => {
    stage = await openStage({ version: 18 });
    await expectFailure(/cannot make keys by call.*by hand/);
  });

  test('a user who may not, on a server that does not let users', async () => {
    stage = await openStage({ programmaticKeys: false });
    await expectFailure(/base\.enable_programmatic_api_keys.*True/);
  });

  test('another instance with the same key would lose it', async () => {
    stage = await openStage();
    await stage.instances.add({
      name: 'a',
      url: stage.sandbox.url,
      db: stage.sandbox.db,
      user_id: stage.user.userId,
      api_key: stage.user.apiKey,
      allow_private: true,
    });
    await expectFailure(/instance "a" has the same key/);
    expect(countCalls('generate')).toBe(0);
  });

  test('a user with ten keys', async () => {
    stage = await openStage({ user: 'admin' });
    const { record, apiKey } = (await stage.instances.openKey('prod')) ?? expect.fail();
    for (let made = 0; made < 9; made++) {
      const keyword = { key: apiKey, scope: 'rpc', name: `other ${made}`, expiration_date: '2028-01-01' };
      await stage.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
    }
    const expiresAt = CREATED_AT + 90 * DAY_MS;
    await stage.instances.update('prod', record.version, {
      key_expires_at: new Date(expiresAt).toISOString(),
    });
    await expectFailure(/Limit of 10 API keys.*Remove keys/);
  });

  test('a stored key that has ended', async () => {
    stage = await openStage({
      nowDays: 91,
      keyExpiresAt: new Date(CREATED_AT + 90 * DAY_MS).toISOString(),
    });
    await expectFailure(/living API key.*by hand/);
  });

  test('it is tried again after an hour, and at once where the operator changed the instance', async () => {
    stage = await openStage({ programmaticKeys: false });
    const care = stage.openCare();
    await care.look();
    await care.look();
    expect(countCalls('generate')).toBe(1);
    stage.advance(1.2 * HOUR_MS);
    await care.look();
    expect(countCalls('generate')).toBe(2);
    const { version = 0 } = (await stage.instances.get('prod')) ?? {};
    await stage.instances.update('prod', version, { timeout_ms: 5000 });
    await care.look();
    expect(countCalls('generate')).toBe(3);
  });

  test('on demand the failure is the error', async () => {
    stage = await openStage({ version: 18 });
    await expect(stage.openCare().rotate('prod')).rejects.toThrow(KeyRotationError);
  });
});

test('a user who gets only shorter lives gets the longest of them', async () => {
  stage = await openStage();
  const care = stage.openCare({
    ask: answerInstead(({ method, keyword }) =>
      method === 'generate' && Date.parse(`${String(keyword['expiration_date'])}Z`) > stage.now() + 7 * DAY_MS
        ? { kind: 'refused', type: 'validation_error', message: 'You cannot exceed 7.0 days.' }
        : undefined,
    ),
  });
  await care.look();
  expect(await readKey()).toMatchObject({ expiresAt: stage.now() + 6.5 * DAY_MS, failure: null });
});

describe('a server that lies', () => {
  test.each([
    ['no text', 7],
    ['nothing', null],
    ['a text that is no key', 'no key\r\nx: y'],
    ['the key that it was given', '5a17b0c5de302222222222222222222222222222'],
  ])('gives %s for a new key: the old one stays', async (_, value) => {
    stage = await openStage();
    const care = stage.openCare({
      ask: answerInstead(({ method }) => (method === 'generate' ? { kind: 'result', value } : undefined)),
    });
    await care.look();
    expect(await readKey()).toMatchObject({
      failure: expect.stringContaining('gave none'),
      pendingStep: null,
    });
    expect(await stage.storedKey()).toBe(stage.user.apiKey);
  });

  test.each(['jsonrpc', 'json2'] as const)(
    'gives the key of another user for a new one: it is never used (%s)',
    async (protocol) => {
      stage = await openStage({ protocol });
      const value = stage.sandbox.users.admin.apiKey;
      const care = stage.openCare({
        ask: answerInstead(({ method }) => (method === 'generate' ? { kind: 'result', value } : undefined)),
      });
      await care.look();
      expect(await readKey()).toMatchObject({
        failure: expect.stringMatching(/does not open the user.*by hand: "erp-proxy prod 2027-01-30/),
        pendingStep: null,
      });
      expect(await stage.storedKey()).toBe(stage.user.apiKey);
      expect(await stage.callWithStoredKey()).toMatchObject({ kind: 'result' });
    },
  );

  test('loses answers: after three lost keys no more are made', async () => {
    stage = await openStage();
    const care = stage.openCare({
      ask: async (record, apiKey, question) => {
        const answer = await stage.ask(record, apiKey, question);
        return question.method === 'generate' ? { kind: 'unanswered', message: 'reset' } : answer;
      },
    });
    for (let look = 0; look < 6; look++) {
      await care.look();
      stage.advance(2 * HOUR_MS);
    }
    expect((await stage.listKeys()).ours).toHaveLength(3);
    expect((await readKey())?.failure).toMatch(/Odoo has 3 keys.*Remove them/);
    expect(await stage.storedKey()).toBe(stage.user.apiKey);
  });

  test('loses two answers: the key in use is none of the lost', async () => {
    stage = await openStage();
    let losses = 0;
    const care = stage.openCare({
      ask: async (record, apiKey, question) => {
        const answer = await stage.ask(record, apiKey, question);
        const isLost = question.method === 'generate' && losses-- > 0;
        return isLost ? { kind: 'unanswered', message: 'reset' } : answer;
      },
    });
    await care.rotate('prod');
    stage.advance(PAUSE_MS);
    losses = 2;
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(care.rotate('prod')).rejects.toThrow(/nobody knows its text/);
    await care.rotate('prod');
    stage.advance(PAUSE_MS);
    await care.look();
    expect((await stage.listKeys()).ours).toHaveLength(3);
  });

  test('does not answer while the new key is tried: it is tried again, and used', async () => {
    stage = await openStage();
    let isAway = true;
    const care = stage.openCare({
      ask: answerInstead(({ method }) =>
        method === 'context_get' && isAway ? { kind: 'unanswered', message: 'HTTP 502' } : undefined,
      ),
    });
    await care.look();
    expect(await readKey()).toMatchObject({
      pendingStep: 'proving',
      failure: expect.stringContaining('HTTP 502'),
    });
    expect(await stage.storedKey()).toBe(stage.user.apiKey);
    isAway = false;
    stage.advance(2 * HOUR_MS);
    await care.look();
    expect(await readKey()).toMatchObject({ pendingStep: 'revoking', failure: null });
    expect(countCalls('generate')).toBe(1);
  });
});

describe('an operator who changes the instance meanwhile wins', () => {
  /** Runs before the first write of this kind. */
  function interfere(step: 'proving' | 'revoking', work: () => Promise<unknown>): Instances {
    let isDone = false;
    return {
      ...stage.instances,
      async changeKey(name, version, change) {
        if (change.pending?.step === step && !isDone) {
          isDone = true;
          await work();
        }
        return stage.instances.changeKey(name, version, change);
      },
    };
  }

  const giveKey = async () => {
    const { record, apiKey } = (await stage.instances.openKey('prod')) ?? expect.fail();
    const keyword = { key: apiKey, scope: null, name: 'by hand', expiration_date: '2027-04-20' };
    const made = await stage.ask(record, apiKey, { model: 'res.users.apikeys', method: 'generate', keyword });
    const api_key = made.kind === 'result' ? String(made.value) : expect.fail();
    const key_expires_at = '2027-04-20T00:00:00Z';
    expect(await stage.instances.update('prod', record.version, { api_key, key_expires_at })).toBe('done');
    return api_key;
  };

  test.each(['proving', 'revoking'] as const)('with another key, before the write of %s', async (step) => {
    stage = await openStage();
    let given = '';
    const instances = interfere(step, async () => {
      given = await giveKey();
    });
    const care = stage.openCare({ instances });
    for (let look = 0; look < 4; look++) {
      await care.look();
      stage.advance(2 * HOUR_MS);
    }
    expect(await stage.storedKey()).toBe(given);
    expect((await stage.listKeys()).all.sort()).toEqual(['by hand', 'key of demo']);
    expect((await readKey())?.pendingStep).toBeNull();
  });

  test.each(['proving', 'revoking'] as const)(
    'by removing it before the write of %s: the new key goes too',
    async (step) => {
      stage = await openStage();
      const { record, apiKey } = (await stage.instances.openKey('prod')) ?? expect.fail();
      const instances = interfere(step, async () => {
        const { version = 0 } = (await stage.instances.get('prod')) ?? {};
        expect(await stage.instances.remove('prod', version)).toBe('done');
      });
      await stage.openCare({ instances }).look();
      const keys = await stage.ask(record, apiKey, {
        model: 'res.users.apikeys',
        method: 'search_count',
        keyword: { domain: [['user_id', '=', record.userId]] },
      });
      expect(keys).toEqual({ kind: 'result', value: 1 });
    },
  );
});

test.each([false, true])(
  'a store that fails at the write of the new key loses none (written: %s)',
  async (isWritten) => {
    stage = await openStage();
    let failures = 0;
    const care = stage.openCare({
      instances: {
        ...stage.instances,
        async changeKey(name, version, change) {
          if (change.pending?.step !== 'proving' || failures++ > 0)
            return stage.instances.changeKey(name, version, change);
          if (isWritten) await stage.instances.changeKey(name, version, change);
          throw new Error('the store is away');
        },
      },
    });
    await care.look();
    expect(stage.errors).toEqual([new Error('the store is away')]);
    expect((await stage.listKeys()).all).toHaveLength(isWritten ? 2 : 1);
    for (let look = 0; look < 4; look++) {
      stage.advance(2 * HOUR_MS);
      await care.look();
    }
    expect(await stage.storedKey()).not.toBe(stage.user.apiKey);
    expect((await stage.listKeys()).all).toHaveLength(1);
  },
);

test('no key stands in an event, a failure, an error or a state', async () => {
  stage = await openStage();
  const keys = new Set<string>([stage.user.apiKey]);
  const care = stage.openCare({
    ask: answerInstead(({ method }, apiKey) => {
      keys.add(apiKey);
      return method === 'revoke' ? { kind: 'refused', type: 'user_error', message: 'no' } : undefined;
    }),
  });
  await care.look();
  stage.advance(PAUSE_MS);
  await care.look();
  expect(keys.size).toBe(2);
  const shown = JSON.stringify([stage.events, stage.errors.map(String), care.states(), await readKey()]);
  for (const key of keys) expect(shown).not.toContain(key);
  expect(shown).toContain('did not remove');
});

test('a server that says the stored key, at length and with what a terminal obeys, is not repeated', async () => {
  stage = await openStage();
  const stored = stage.user.apiKey;
  const message = `\u001b[31m${stored}\r\n${'x'.repeat(5000)}`;
  const data = { name: 'odoo.exceptions.UserError', message, arguments: [message], context: {} };
  const upstream = await startUpstream((socket, { body }) => {
    const asked = body.toString();
    if (asked.includes('search_read')) answerLikeOdoo(socket, printResult('[]'));
    else if (asked.includes('"generate"')) answerLikeOdoo(socket, printResult(`"${'f'.repeat(40)}"`));
    else answerLikeOdoo(socket, JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 0, message, data } }));
  });
  try {
    const record = (await stage.instances.get('prod')) ?? expect.fail();
    await stage.instances.update('prod', record.version, { url: upstream.url, api_key: stored });
    await expect(stage.openCare().rotate('prod')).rejects.toThrow('trying the new key');
    const { failure } = (await readKey()) ?? expect.fail();
    expect(failure).toMatch(/trying the new key/);
    expect(failure?.length).toBeLessThan(500);
    expect(failure).not.toMatch(/\p{Cc}/u);
    expect(JSON.stringify([stage.events, failure])).not.toContain(stored);
  } finally {
    await upstream.close();
  }
});

test('a process that only asks once keeps its failure to itself', async () => {
  stage = await openStage();
  const ask: AskOdoo = async () => ({ kind: 'unanswered', message: 'closed by the settings here' });
  const care = stage.openCare({ ask, keepsFailures: false });
  await expect(care.rotate('prod')).rejects.toThrow('closed by the settings here');
  expect(await readKey()).toMatchObject({ failure: null });
});

test('closing waits for the step that runs, and takes no other', async () => {
  stage = await openStage();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const care = stage.openCare({
    ask: answerInstead(async ({ method }) => {
      if (method !== 'generate') return undefined;
      asked.resolve();
      await answered.promise;
      return undefined;
    }),
  });
  const looking = care.look();
  await asked.promise;
  const closed = care.close();
  answered.resolve();
  await closed;
  await looking;
  expect((await readKey())?.pendingStep).toBe('proving');
  expect(await stage.storedKey()).toBe(stage.user.apiKey);
});
