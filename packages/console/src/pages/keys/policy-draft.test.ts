import { expect, test } from 'vitest';
import { chooseInstance, createDraft, readDraft, setMembers } from './policy-draft.ts';

const POLICY = { instances: ['prod'], models: { 'res.partner': ['read'] }, per_day: 5 };

test('a draft begins with the policy as it is', () => {
  expect(readDraft(createDraft(POLICY))).toEqual({ policy: POLICY });
  expect(readDraft(createDraft(null))).toEqual({ policy: null });
  expect(readDraft(createDraft({ unreadable: 'x' }))).toHaveProperty('mistake');
});

test('a form changes its members and keeps the others', () => {
  const draft = setMembers(POLICY, { read_only: true, per_day: undefined, instances: [] });
  expect(readDraft(draft)).toEqual({ policy: { models: POLICY.models, read_only: true } });
  expect(readDraft(setMembers(POLICY, { models: {} }))).toEqual({ policy: { ...POLICY, models: {} } });
});

test.each(['', '{', '[]', 'null', '1'])('%j is a mistake, and not no policy', (text) => {
  expect(readDraft({ isRestricted: true, text })).toHaveProperty('mistake');
});

test('an example calls an instance that the policy names, if there is one', () => {
  expect(chooseInstance({ policy: POLICY }, ['a'])).toBe('prod');
  expect(chooseInstance({ policy: { instances: ['*-test'], models: {} } }, ['a'])).toBe('a');
  expect(chooseInstance({ policy: null }, [])).toBe('prod');
});
