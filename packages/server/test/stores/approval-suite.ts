/** The part of the store suite about approvals of calls. */

import type { ApprovalDecision, ApprovalRequest, ApprovalRow, ApprovalStore } from '@erp-proxy/stores/ports';
import { openMemoryStore } from '@erp-proxy/stores/testing';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { pause, pauseAtRandom } from '../time.ts';

/** Maximum pause before a statement. Some statements take as long, so that their order changes. */
const ORDER_MS = 5;
const BOUNDS = { clientMax: 100, totalMax: 1000 };
/** The time in most tests: their rows are requested at 1000, and expire at 2000. */
const NOW = 1500;

export function describeApprovals(use: () => ApprovalStore): void {
  let store: ApprovalStore;
  const ask = (changes: Partial<ApprovalRequest> = {}) => store.ask(buildRequest(changes), BOUNDS);
  const find = async (id: string) => (await store.find(id)) as ApprovalRow;

  beforeEach(() => {
    store = use();
  });

  test('stores a call as pending, each text byte for byte', async () => {
    const facts = '{"a": "é\\u0000\\"🙂"}';
    const row = { ...buildRow({ facts }), call: 'sealed\n🙂' };
    const { call, ...shown } = row;
    expect(await ask({ facts, call })).toEqual(shown);
    expect(await store.find('a')).toEqual(row);
    for (const id of ['', 'A', 'a%', 'a ', "a' OR '1'='1"]) expect(await store.find(id)).toBeNull();
  });

  test('a call that is asked for again has the row of the first time', async () => {
    const first = await ask();
    expect(await ask({ id: 'b', facts: '{"other":1}', call: 'other', expiresAt: 9000 })).toEqual(first);
    expect(await store.find('b')).toBeNull();
    expect(await ask({ id: 'c', client: 'other' })).toMatchObject({ id: 'c' });
    expect(await ask({ id: 'd', fingerprint: 'other' })).toMatchObject({ id: 'd' });
  });

  test('a call that is approved or refused is not asked for again, one that was used or whose time is over is', async () => {
    const isAskedAgain = async (id: string, at: number) =>
      ((await ask({ id: `${id} again`, fingerprint: id, createdAt: at, expiresAt: 9000 })) as ApprovalRow)
        .id !== id;
    for (const id of ['pending', 'approved', 'refused', 'used']) await ask({ id, fingerprint: id });
    await store.decide('approved', approve({ expiresAt: 1800 }));
    await store.decide('refused', refuse());
    await store.decide('used', approve());
    expect(await store.claim(claimOf('used', 'one'))).toBe(true);
    expect(await isAskedAgain('used', 1600)).toBe(true);
    for (const id of ['pending', 'approved', 'refused']) expect(await isAskedAgain(id, 1799)).toBe(false);
    expect(await isAskedAgain('approved', 1800)).toBe(true);
    for (const id of ['pending', 'refused']) expect(await isAskedAgain(id, 1999)).toBe(false);
    for (const id of ['pending', 'refused']) expect(await isAskedAgain(id, 2000)).toBe(true);
  });

  test('bounds the calls that wait for a decision, of each client and in total', async () => {
    const bounds = { clientMax: 2, totalMax: 3 };
    const askFor = (client: string, fingerprint: string, at = 1000) =>
      store.ask(
        buildRequest({
          id: `${client}${fingerprint}${at}`,
          client,
          fingerprint,
          createdAt: at,
          expiresAt: at + 1000,
        }),
        bounds,
      );
    await askFor('c', '1');
    await askFor('c', '2');
    expect(await askFor('c', '3')).toBe('client_full');
    expect(await askFor('c', '2', 1100)).toMatchObject({ id: 'c21000' });
    await askFor('d', '1');
    expect(await askFor('d', '2')).toBe('full');
    await store.decide('c11000', approve());
    expect(await askFor('c', '3')).toMatchObject({ state: 'pending' });
    expect(await askFor('d', '2')).toBe('full');
    expect(await askFor('c', '4', 2000)).toMatchObject({ state: 'pending' });
    expect(await store.find('d21000')).toBeNull();
  });

  test('finds rows of one call among ids', async () => {
    await ask({ id: 'a' });
    await store.decide('a', approve());
    await store.claim(claimOf('a', 'one', { fingerprint: 'f' }));
    await ask({ id: 'b' });
    await ask({ id: 'other client', client: 'other' });
    await ask({ id: 'other call', fingerprint: 'other' });
    const ids = ['other client', 'b', 'missing', 'other call', 'a', 'b', '\0'];
    const found = await store.findOf('c', 'f', ids);
    expect(found.map(({ id, state }) => `${id} ${state}`).sort()).toEqual(['a used', 'b pending']);
    expect(found.every((row) => !('call' in row))).toBe(true);
    expect(await store.findOf('c', 'f', [])).toEqual([]);
  });

  test('is decided once, and keeps who decided and when', async () => {
    await ask();
    expect(await store.decide('a', approve({ now: 1400, by: 'one', expiresAt: 5000 }))).toBe('done');
    const approved = buildRow({ state: 'approved', decidedAt: 1400, decidedBy: 'one', expiresAt: 5000 });
    expect(await store.find('a')).toEqual({ ...approved, call: 'sealed' });
    for (const again of [approve({ by: 'two' }), refuse({ by: 'two' })]) {
      expect(await store.decide('a', again)).toBe('conflict');
    }
    expect(await find('a')).toMatchObject(approved);
    expect(await store.decide('missing', approve())).toBe('missing');
  });

  test('a refusal keeps its reason and the end of its time, and deletes the values of the call', async () => {
    await ask();
    expect(await store.decide('a', refuse({ reason: 'not now', now: 1400 }))).toBe('done');
    const refused = { state: 'refused', reason: 'not now', decidedAt: 1400, decidedBy: 'admin' } as const;
    expect(await store.find('a')).toEqual({ ...buildRow(refused), call: null });
  });

  test('cannot be decided once its time is over', async () => {
    await ask();
    expect(await store.decide('a', approve({ now: 2000 }))).toBe('conflict');
    expect(await store.decide('a', approve({ now: 1999 }))).toBe('done');
  });

  test('is used once, by the call that it is for, while it is approved', async () => {
    await ask();
    expect(await store.claim(claimOf('a', 'one', { fingerprint: 'f' })), 'pending').toBe(false);
    await store.decide('a', approve());
    const claim = (changes: object) => store.claim(claimOf('a', 'one', { fingerprint: 'f', ...changes }));
    expect(await claim({ client: 'other' })).toBe(false);
    expect(await claim({ fingerprint: 'other' })).toBe(false);
    expect(await claim({ id: 'b' })).toBe(false);
    expect(await claim({ now: 3000 }), 'over').toBe(false);
    expect(await claim({ now: 2999 })).toBe(true);
    expect(await claim({}), 'used').toBe(false);
    expect(await find('a')).toMatchObject({ state: 'used', usedAt: 2999 });
    await ask({ id: 'refused' });
    await store.decide('refused', refuse());
    expect(await claim({ id: 'refused' })).toBe(false);
  });

  test('can be used again after the attempt that used it has released it', async () => {
    await ask();
    await store.decide('a', approve());
    const claim = (attempt: string) => store.claim(claimOf('a', attempt, { fingerprint: 'f' }));
    await store.release('a', 'one');
    expect(await claim('one')).toBe(true);
    await store.release('a', 'two');
    await store.release('b', 'one');
    expect(await claim('two')).toBe(false);
    await store.release('a', 'one');
    expect(await find('a')).toMatchObject({ state: 'approved', usedAt: null });
    expect(await claim('two')).toBe(true);
    await store.release('a', 'one');
    expect(await find('a')).toMatchObject({ state: 'used' });
  });

  test('stays used when it is released after the same call was asked for again', async () => {
    for (const [fingerprint, decision] of [
      ['pending', null],
      ['approved', approve()],
      ['refused', refuse()],
    ] as const) {
      const [first, again] = [`first ${fingerprint}`, `again ${fingerprint}`];
      await ask({ id: first, fingerprint });
      await store.decide(first, approve());
      await store.claim(claimOf(first, 'one', { fingerprint }));
      expect(await ask({ id: again, fingerprint, createdAt: NOW })).toMatchObject({ id: again });
      if (decision !== null) await store.decide(again, decision);
      await store.release(first, 'one');
      await store.release(first, 'one');
      expect(await find(first)).toMatchObject({ state: 'used', usedAt: NOW });
      expect(await find(again)).toMatchObject({ state: fingerprint });
    }
  });

  test('can be used again if it is the newest of its call, and the others were used or over before', async () => {
    await ask({ id: 'over', expiresAt: 1200 });
    await ask({ createdAt: 1200 });
    await store.decide('a', approve());
    await store.claim(claimOf('a', 'one', { fingerprint: 'f' }));
    await ask({ id: 'b', createdAt: NOW });
    await store.decide('b', approve());
    await store.claim(claimOf('b', 'two', { fingerprint: 'f' }));
    await store.release('a', 'one');
    await store.release('b', 'two');
    expect(await find('a'), 'the call was asked for again').toMatchObject({ state: 'used' });
    expect(await find('b')).toMatchObject({ state: 'approved' });
  });

  test('lists the newest first, page by page, without the values of the calls', async () => {
    const ages: [string, number][] = [
      ['a', 3],
      ['c', 1],
      ['b', 2],
      ['d', 2],
      ['e', 2],
    ];
    for (const [id, createdAt] of ages) await ask({ id, createdAt, fingerprint: id });
    const listed: string[] = [];
    let after: ApprovalRow | null = null;
    for (;;) {
      const page: ApprovalRow[] = await store.list({ after, limit: 2 });
      expect(page.every((row) => !('call' in row))).toBe(true);
      listed.push(...page.map(({ id }) => id));
      after = page.at(-1) ?? null;
      if (page.length < 2) break;
    }
    expect(listed).toEqual(['a', 'e', 'd', 'b', 'c']);
  });

  test('lists by state: a row that is pending or approved has expired at exactly its time', async () => {
    for (const id of ['pending', 'approved', 'refused', 'used']) await ask({ id, fingerprint: id });
    await store.decide('approved', approve({ expiresAt: 1900 }));
    await store.decide('refused', refuse());
    await store.decide('used', approve({ expiresAt: 1900 }));
    await store.claim(claimOf('used', 'one'));
    const list = async (is: ApprovalRow['state'] | 'expired', now: number) =>
      (await store.list({ after: null, limit: 9, state: { is, now } })).map(({ id }) => id).sort();
    for (const state of ['pending', 'approved', 'refused', 'used'] as const) {
      expect(await list(state, 1899)).toEqual([state]);
    }
    expect(await list('expired', 1899)).toEqual([]);
    expect(await list('expired', 1900)).toEqual(['approved']);
    expect(await list('expired', 2000)).toEqual(['approved', 'pending']);
    expect(await list('refused', 9000)).toEqual(['refused']);
    expect(await list('used', 9000)).toEqual(['used']);
    expect(await list('approved', 1900)).toEqual([]);
  });

  test('deletes the values when the time of a call is over, and its row later, at most the given number', async () => {
    for (const id of ['a', 'b', 'c', 'late']) {
      await ask({ id, fingerprint: id, expiresAt: id === 'late' ? 5000 : 2000 });
    }
    const prune = (now: number, removeBefore: number) => store.prune(now, removeBefore, 2);
    expect(await prune(1999, 1000)).toBe(0);
    expect([await prune(2000, 1000), await prune(2000, 1000), await prune(2000, 1000)]).toEqual([2, 1, 0]);
    for (const id of ['a', 'b', 'c']) expect(await store.find(id)).toMatchObject({ call: null });
    expect(await store.find('late')).toMatchObject({ call: 'sealed' });
    expect([await prune(3000, 2000), await prune(3000, 2000), await prune(3000, 2000)]).toEqual([2, 1, 0]);
    expect((await store.list({ after: null, limit: 9 })).map(({ id }) => id)).toEqual(['late']);
  });

  test('does what the store in memory does, in any order of operations', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(OPERATIONS, { maxLength: 25 }), async (operations) => {
        // The rows of earlier runs remain, but do not matter: they have other clients, and are expired.
        run++;
        const model = openMemoryStore().approvals;
        const base = run * 1_000_000;
        for (const operation of operations) {
          const results = [];
          for (const target of [model, store]) results.push(await operation(target, base, `r${run}`));
          expect(results[1]).toEqual(results[0]);
        }
      }),
      { numRuns: countCases(25) },
    );
  });
}

/** Tests for stores that several processes share. */
export function describeSharedApprovals(use: () => [ApprovalStore, ApprovalStore]): void {
  const many = <Result>(run: (store: ApprovalStore, index: number) => Result | Promise<Result>) =>
    Promise.all(
      Array.from({ length: 30 }, async (_, index) => run(use()[index % 2] as ApprovalStore, index)),
    );

  test('a call that is asked for by many attempts at once has one row', async () => {
    const rows = await many((store, index) => store.ask(buildRequest({ id: `${index}` }), BOUNDS));
    expect(new Set(rows.map((row) => (row as ApprovalRow).id)).size).toBe(1);
    expect(await use()[0].list({ after: null, limit: 99 })).toHaveLength(1);
  });

  test('attempts at once do not exceed the bounds', async () => {
    const rows = await many((store, index) =>
      store.ask(buildRequest({ id: `${index}`, fingerprint: `${index}` }), { clientMax: 7, totalMax: 100 }),
    );
    expect(rows.filter((row) => row !== 'client_full')).toHaveLength(7);
  });

  test('of decisions and attempts to use it at once, one decision counts and one attempt gets it', async () => {
    for (let round = 0; round < 10; round++) {
      const id = `${round}`;
      await use()[0].ask(buildRequest({ id, fingerprint: id }), BOUNDS);
      const results = await many(async (store, index) => {
        // Random pauses make a different order in each round.
        await pauseAtRandom(Math.random, ORDER_MS);
        if (index % 5 === 0) return await store.decide(id, approve({ by: `${index}` }));
        if (index % 5 === 1) return await store.decide(id, refuse({ by: `${index}` }));
        return await store.claim(claimOf(id, `${index}`));
      });
      expect(results.filter((result) => result === 'done')).toHaveLength(1);
      const claims = results.filter((result) => result === true).length;
      const { state } = (await use()[1].find(id)) as ApprovalRow;
      expect(claims).toBe(state === 'used' ? 1 : 0);
    }
  });

  test('of a release and a request for the same call at once, one row stays open', async () => {
    const [one, two] = use();
    for (let round = 0; round < 30; round++) {
      const [first, again] = [`${round} first`, `${round} again`];
      const call = { fingerprint: `${round}` };
      await one.ask(buildRequest({ id: first, ...call }), BOUNDS);
      await one.decide(first, approve());
      expect(await one.claim(claimOf(first, 'one', call))).toBe(true);
      const ask = async () => void (await two.ask(buildRequest({ id: again, ...call }), BOUNDS));
      const release = async () => one.release(first, 'one');
      const [earlier, later] = round % 2 === 0 ? [ask, release] : [release, ask];
      // Other pauses make other interleavings in other rounds.
      await Promise.all([earlier(), pause(round % 3).then(later)]);
      const rows = await one.findOf('c', call.fingerprint, [first, again]);
      expect(rows.filter(({ state }) => state !== 'used')).toHaveLength(1);
    }
  });

  test('no two attempts have an approval at the same time, however often it is released', async () => {
    await use()[0].ask(buildRequest({ id: 'a' }), BOUNDS);
    await use()[1].decide('a', approve());
    let holders = 0;
    let uses = 0;
    await many(async (store, index) => {
      for (let attempt = 0; attempt < 5; attempt++) {
        const name = `${index} ${attempt}`;
        if (!(await store.claim(claimOf('a', name, { fingerprint: 'f' })))) continue;
        holders++;
        uses++;
        expect(holders).toBe(1);
        await pauseAtRandom(Math.random, ORDER_MS);
        holders--;
        await store.release('a', name);
      }
    });
    expect(uses).toBeGreaterThan(0);
  });
}

/** A decision on the row `a`, for tests of audit records. */
export const APPROVE: ApprovalDecision = approve();

export function buildRequest(changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    id: 'a',
    client: 'c',
    fingerprint: 'f',
    facts: '{}',
    call: 'sealed',
    createdAt: 1000,
    expiresAt: 2000,
    ...changes,
  };
}

function buildRow(changes: Partial<ApprovalRow> = {}): ApprovalRow {
  const { call: _, ...request } = buildRequest();
  return {
    ...request,
    state: 'pending',
    decidedAt: null,
    decidedBy: null,
    reason: null,
    usedAt: null,
    ...changes,
  };
}

function approve(changes: Partial<ApprovalDecision> = {}): ApprovalDecision {
  return { state: 'approved', by: 'admin', reason: null, now: NOW, expiresAt: 3000, ...changes };
}

function refuse(changes: Partial<ApprovalDecision> = {}): ApprovalDecision {
  return { state: 'refused', by: 'admin', reason: 'no', now: NOW, expiresAt: null, ...changes };
}

/** A claim of the approval; its fingerprint is the id by default. */
function claimOf(id: string, attempt: string, changes: object = {}) {
  return { id, client: 'c', fingerprint: id, attempt, now: NOW, ...changes };
}

type Operation = (store: ApprovalStore, base: number, run: string) => Promise<unknown>;

const SMALL = fc.nat(3);
const TIMES = fc.integer({ min: 0, max: 20 });

/** There are few ids, calls and times, so that operations meet. */
const OPERATIONS: fc.Arbitrary<Operation> = fc.oneof(
  fc.tuple(SMALL, SMALL, TIMES, TIMES, fc.nat(1000)).map(
    ([id, call, at, forMs, unique]): Operation =>
      async (store, base, run) =>
        await store.ask(
          buildRequest({
            // An id must not be asked for twice.
            id: (await store.find(`${run} ${id}`)) === null ? `${run} ${id}` : `${run} ${id} ${at} ${unique}`,
            client: `${run} ${call % 2}`,
            fingerprint: `${call}`,
            createdAt: base + at,
            expiresAt: base + at + forMs,
          }),
          { clientMax: 2, totalMax: 3 },
        ),
  ),
  fc.tuple(SMALL, TIMES, TIMES, fc.boolean()).map(
    ([id, at, forMs, isApproved]): Operation =>
      async (store, base, run) =>
        await store.decide(
          `${run} ${id}`,
          isApproved ? approve({ now: base + at, expiresAt: base + at + forMs }) : refuse({ now: base + at }),
        ),
  ),
  fc.tuple(SMALL, SMALL, TIMES, SMALL).map(
    ([id, call, at, attempt]): Operation =>
      async (store, base, run) =>
        await store.claim({
          id: `${run} ${id}`,
          client: `${run} ${call % 2}`,
          fingerprint: `${call}`,
          attempt: `${attempt}`,
          now: base + at,
        }),
  ),
  fc.tuple(SMALL, SMALL).map(
    ([id, attempt]): Operation =>
      async (store, _, run) =>
        await store.release(`${run} ${id}`, `${attempt}`),
  ),
  fc.tuple(TIMES, TIMES).map(
    ([at, keptMs]): Operation =>
      async (store, base) => {
        // The result is ignored, because stores may remove different rows up to the bound.
        await store.prune(base + at, base + at - keptMs, 1000);
      },
  ),
  SMALL.map(
    (id): Operation =>
      async (store, _, run) =>
        await store.find(`${run} ${id}`),
  ),
  fc.tuple(SMALL, TIMES, fc.constantFrom('pending', 'approved', 'refused', 'used', 'expired')).map(
    ([call, at, is]): Operation =>
      async (store, base, run) => [
        (await store.list({ after: null, limit: 100, state: { is, now: base + at } })).filter(({ client }) =>
          client.startsWith(`${run} `),
        ),
        (await store.findOf(`${run} ${call % 2}`, `${call}`, [`${run} 0`, `${run} 1`, `${run} 2`])).toSorted(
          (a, b) => a.id.localeCompare(b.id),
        ),
      ],
  ),
);
