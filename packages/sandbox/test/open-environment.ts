/** Opens an environment of the seed data for tests of the ORM, without HTTP. */
import type { JsonObject } from '../src/json/value.ts';
import { callMethod } from '../src/orm/call-method.ts';
import type { Store } from '../src/orm/store.ts';
import { Instance } from '../src/rpc/instance.ts';
import type { Version } from '../src/versions/personality.ts';
import { pickPersonality } from '../src/versions/pick-personality.ts';

const admin = 2;
export const demo = 8;

export function openEnvironment(
  version: Version = 18,
  {
    uid = admin,
    records = {},
    clock = Date.now,
    store,
  }: { uid?: number; records?: Record<string, number>; clock?: () => number; store?: Store } = {},
) {
  const environment = new Instance(pickPersonality(version), {
    authDelayMs: 0,
    clock,
    keysExpireAt: null,
    programmaticKeys: false,
    records,
    beforeCall: () => {},
  }).environment(uid, store);
  const call = (model: string, method: string, args: readonly unknown[], named: JsonObject = {}) =>
    environment.store.transact(() => callMethod(environment, model, method, args as never, named)) as never;
  const search = (model: string, domain: unknown, named: JsonObject = {}): number[] =>
    call(model, 'search', [domain], named);
  const readOne = (
    model: string,
    id: number,
    fields: readonly string[],
    named: JsonObject = {},
  ): Record<string, unknown> =>
    (call(model, 'read', [[id], fields], named) as Record<string, unknown>[])[0] ?? {};
  return { environment, call, search, readOne };
}
