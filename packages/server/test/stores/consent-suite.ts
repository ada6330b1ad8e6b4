/** Tests consents, and what the authorization server keeps for a time. Part of the store suite (store-suite.ts). */
import type { SignInObject, Store, StoredConsent } from '@erp-proxy/stores/ports';
import { expect, test } from 'vitest';

const ANY = 1000;

export function buildConsent(changes: Partial<StoredConsent> = {}): StoredConsent {
  return {
    id: 'c1',
    person: 'corp/ada',
    application: 'https://app.example.com/client.json',
    providerSession: null,
    createdAt: 1,
    usedAt: 1,
    expiresAt: 100,
    body: '{}',
    ...changes,
  };
}

export function buildSignInObject(changes: Partial<SignInObject> = {}): SignInObject {
  return {
    kind: 'code',
    id: 'o1',
    consent: null,
    body: 'sealed',
    consumedAt: null,
    createdAt: 1,
    expiresAt: 100,
    ...changes,
  };
}

export function describeConsents(use: () => Store): void {
  test('returns a consent as it was inserted, and replaces its body', async () => {
    const { consents } = use();
    const consent = buildConsent({ providerSession: 's' });
    await consents.insert(consent, ANY);
    expect(await consents.find('c1')).toEqual(consent);
    expect(await consents.find('c1\0')).toBeNull();
    expect(await consents.update('c1', '{"a":1}')).toBe(true);
    expect(await consents.update('c2', '{"a":1}')).toBe(false);
    for (const id of ['c1', 'c2']) await consents.touch(id, 5);
    expect(await consents.find('c1')).toEqual({ ...consent, usedAt: 5, body: '{"a":1}' });
  });

  test('keeps the newest consents of a person, up to a maximum', async () => {
    const { consents } = use();
    await consents.insert(buildConsent({ id: 'bob', person: 'corp/bob' }), 2);
    for (const [id, createdAt] of [
      ['b', 2],
      ['a', 1],
      ['c', 3],
    ] as const)
      await consents.insert(buildConsent({ id, createdAt }), 2);
    const list = async (person?: string) =>
      (await consents.list({ after: null, limit: 9, person })).map(({ id }) => id);
    expect(await list()).toEqual(['b', 'c', 'bob']);
    expect(await list('corp/ada')).toEqual(['b', 'c']);
    expect(await list('corp/a\0')).toEqual([]);
  });

  test('lists consents by person and id, in pages', async () => {
    const { consents } = use();
    for (const [id, person] of [
      ['b', 'corp/b'],
      ['a', 'corp/b'],
      ['B', 'corp/B'],
    ] as const)
      await consents.insert(buildConsent({ id, person }), ANY);
    const list = async (after: { person: string; id: string } | null, limit: number) =>
      (await consents.list({ after, limit })).map(({ id }) => id);
    expect(await list(null, 2)).toEqual(['B', 'a']);
    expect(await list({ person: 'corp/b', id: 'a' }, 2)).toEqual(['b']);
  });

  test('removes a consent once, and all of a person or of a session at the provider', async () => {
    const { consents } = use();
    await consents.insert(buildConsent({ id: 'a' }), ANY);
    await consents.insert(buildConsent({ id: 'b', providerSession: 's' }), ANY);
    await consents.insert(buildConsent({ id: 'c', person: 'corp/bob', providerSession: 's' }), ANY);
    await consents.insert(buildConsent({ id: 'd', person: 'corp/bob' }), ANY);
    expect(await consents.remove('a')).toBe(true);
    expect(await consents.remove('a')).toBe(false);
    expect(await consents.removeOf({ providerSession: 's' })).toBe(2);
    expect(await consents.removeOf({ person: 'corp/ada' })).toBe(0);
    expect(await consents.removeOf({ person: 'corp/bob' })).toBe(1);
  });

  test('prunes consents that have expired', async () => {
    const { consents } = use();
    await consents.insert(buildConsent({ id: 'a', expiresAt: 5 }), ANY);
    await consents.insert(buildConsent({ id: 'b', expiresAt: 6 }), ANY);
    expect(await consents.prune(6, 9)).toBe(1);
    expect((await consents.list({ after: null, limit: 9 })).map(({ id }) => id)).toEqual(['b']);
  });

  test('tells watchers of changed and removed consents', async () => {
    const store = use();
    const told: unknown[] = [];
    store.watch((change) => change?.kind === 'consent' && told.push(change.id));
    await store.consents.insert(buildConsent({ id: 'a' }), ANY);
    await store.consents.insert(buildConsent({ id: 'b' }), ANY);
    await store.consents.update('a', '{}');
    await store.consents.remove('b');
    await store.consents.removeOf({ person: 'corp/ada' });
    await expect.poll(() => told).toEqual(['a', 'b', 'a']);
  });
}

export function describeSignInObjects(use: () => Store): void {
  test('returns an object as it was put, and replaces it', async () => {
    const { signInObjects } = use();
    expect(await signInObjects.put(buildSignInObject(), null)).toBe(true);
    expect(await signInObjects.put(buildSignInObject({ body: 'other', expiresAt: 7 }), null)).toBe(true);
    const object = buildSignInObject({ body: 'other', expiresAt: 7 });
    expect(await signInObjects.find('code', 'o1')).toEqual(object);
    for (const [kind, id] of [
      ['token', 'o1'],
      ['code', 'o2'],
      ['code', 'o1\0'],
    ] as const)
      expect(await signInObjects.find(kind, id)).toBeNull();
    await signInObjects.extend('code', 'o1', 200);
    expect(await signInObjects.find('code', 'o1')).toMatchObject({ expiresAt: 200 });
    await signInObjects.remove('code', 'o1');
    expect(await signInObjects.find('code', 'o1')).toBeNull();
  });

  test('lets an object be used once', async () => {
    const { signInObjects } = use();
    await signInObjects.put(buildSignInObject(), null);
    const uses = await Promise.all([1, 2, 3].map((at) => signInObjects.consume('code', 'o1', at, 50)));
    expect(uses.filter((isFirst) => isFirst)).toHaveLength(1);
    expect(await signInObjects.find('code', 'o1')).toMatchObject({
      consumedAt: expect.any(Number),
      expiresAt: 50,
    });
    expect(await signInObjects.consume('code', 'o2', 1, 50)).toBe(false);
  });

  test('removes the objects of a consent with it, and takes none for a missing consent', async () => {
    const { consents, signInObjects } = use();
    await consents.insert(buildConsent(), ANY);
    expect(await signInObjects.put(buildSignInObject({ consent: 'c1' }), null)).toBe(true);
    expect(await signInObjects.put(buildSignInObject({ id: 'o2' }), null)).toBe(true);
    expect(await signInObjects.put(buildSignInObject({ id: 'o3', consent: 'c2' }), null)).toBe(false);
    await consents.remove('c1');
    expect((await signInObjects.list('code')).map(({ id }) => id)).toEqual(['o2']);
  });

  test('keeps a number of objects of a kind, and removes those that expire first', async () => {
    const { signInObjects } = use();
    await signInObjects.put(buildSignInObject({ kind: 'key', id: 'x', expiresAt: 1 }), 2);
    for (const [id, expiresAt] of [
      ['a', 5],
      ['b', 9],
      ['c', 7],
    ] as const)
      await signInObjects.put(buildSignInObject({ id, createdAt: expiresAt, expiresAt }), 2);
    expect((await signInObjects.list('code')).map(({ id }) => id)).toEqual(['c', 'b']);
    expect(await signInObjects.list('key')).toHaveLength(1);
  });

  test('prunes objects that have expired', async () => {
    const { signInObjects } = use();
    await signInObjects.put(buildSignInObject({ id: 'a', expiresAt: 5 }), null);
    await signInObjects.put(buildSignInObject({ id: 'b', expiresAt: 6 }), null);
    expect(await signInObjects.prune(6, 9)).toBe(1);
    expect((await signInObjects.list('code')).map(({ id }) => id)).toEqual(['b']);
  });
}
