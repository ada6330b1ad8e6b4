/** What sign-ins and calls of applications cost does not depend on how many persons there are. */
import { expect, test } from 'vitest';
import { buildConsent, buildSignInObject } from '../stores/consent-suite.ts';
import { allow, listTools, type Stage, startStage } from './stage.ts';

const PARTS = ['consents', 'signInObjects', 'operators', 'deniedSubjects', 'connections'] as const;

/** Counts the operations of the store from now on, by name. */
function countOperations({ proxy }: Stage): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const part of PARTS) {
    const methods = proxy.app.store[part] as unknown as Record<string, (...given: unknown[]) => unknown>;
    for (const [name, run] of Object.entries(methods)) {
      methods[name] = (...given) => {
        const key = `${part}.${name}`;
        counts[key] = (counts[key] ?? 0) + 1;
        return run.apply(methods, given);
      };
    }
  }
  return counts;
}

async function measure(persons: number) {
  const stage = await startStage();
  const { consents, signInObjects } = stage.proxy.app.store;
  const later = { createdAt: Date.now(), usedAt: Date.now(), expiresAt: Date.now() + 86_400_000 };
  for (let number = 0; number < persons; number++) {
    const id = `c${number}`;
    await consents.insert(buildConsent({ ...later, id, person: `corp/p${number}` }), 100);
    await signInObjects.put(buildSignInObject({ ...later, kind: 'RefreshToken', id, consent: id }), null);
  }
  const ofSignIn = countOperations(stage);
  const { application, tokens } = await allow(stage);
  const signIn = { ...ofSignIn };
  await application.refresh(tokens.refresh_token);
  const refresh = { ...ofSignIn };
  await listTools(stage, tokens.access_token);
  const before = { ...ofSignIn };
  for (let count = 0; count < 5; count++)
    expect((await listTools(stage, tokens.access_token)).status).toBe(200);
  return { signIn, refresh, isCallFree: JSON.stringify(ofSignIn) === JSON.stringify(before) };
}

test('with thousands of persons as with ten, and a warm call asks the store nothing', async () => {
  const few = await measure(10);
  expect(few.isCallFree).toBe(true);
  expect(Object.keys(few.signIn).length).toBeGreaterThan(4);
  expect(await measure(3000)).toEqual(few);
});
