/** Each method of the sandbox takes the arguments of the recorded server's method, for each version and model. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allModels } from '../src/models/all-models.ts';
import type { Method } from '../src/orm/model.ts';
import { buildModels } from '../src/orm/registry.ts';
import type { Version } from '../src/versions/personality.ts';
import { pickPersonality } from '../src/versions/pick-personality.ts';

type Recorded = Record<
  string,
  Record<string, { params: string[]; ids: boolean; private?: boolean; readonly?: boolean }>
>;

// The method takes named arguments only, and each app overrides it with **kwargs, so its recorded parameters prove
// nothing.
const left = new Set(['message_post']);

const versions: readonly Version[] = [14, 15, 16, 17, 18, 19];

for (const version of versions) {
  const personality = pickPersonality(version);
  const recorded = JSON.parse(
    readFileSync(new URL(`../recordings/signatures-${version}.0.json`, import.meta.url), 'utf8'),
  ) as Recorded;
  const models = buildModels(allModels, personality);

  describe(`Odoo ${version}`, () => {
    test.each(Object.keys(recorded))('%s takes what was recorded', (name) => {
      const methods = models.get(name)?.methods ?? new Map<string, Method>();
      const known = Object.entries(recorded[name] ?? {}).filter(
        ([method, { private: isPrivate }]) => methods.has(method) && !left.has(method) && !isPrivate,
      );
      expect(known.length).toBeGreaterThan(25);
      const ours = known.map(([method]) => [method, describeMethod(methods.get(method)!)]);
      const theirs = known.map(([method, { params, ids }]) => [
        method,
        `${ids ? 'ids' : 'model'} (${params.join(', ')})`,
      ]);
      expect(ours).toEqual(theirs);
    });

    // 16 and 17 have no such mark.
    if (version > 17) {
      test('marks as readonly what was recorded as readonly', () => {
        const methods = models.get('res.partner')?.methods ?? new Map<string, Method>();
        const known = Object.entries(recorded['res.partner'] ?? {}).filter(([name]) => methods.has(name));
        expect(known.map(([name]) => [name, methods.get(name)?.readonly])).toEqual(
          known.map(([name, { readonly }]) => [name, readonly]),
        );
      });
    }

    test('marks as private what was recorded as private', () => {
      const marked = Object.entries(recorded['res.partner'] ?? {}).filter(
        ([, { private: isPrivate }]) => isPrivate,
      );
      for (const [method] of marked) expect(personality.privateMethods).toContain(method);
    });
  });
}

function describeMethod({ kind, parameters }: Method): string {
  const parts = parameters.split(', ').filter(Boolean);
  const star = parts.indexOf('*');
  const shown = parts.map((part, index) =>
    star >= 0 && index > star && !part.startsWith('*') ? `${part}(kw)` : part,
  );
  return `${kind === 'record' ? 'ids' : 'model'} (${shown.filter((part) => part !== '*').join(', ')})`;
}
