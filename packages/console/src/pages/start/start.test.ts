import { expect, test } from 'vitest';
import { describeInstance, EMPTY_DRAFT, findFaults, readDraft, SANDBOX, writeDraft } from './server-draft.ts';
import { findTemplate, listStartTemplates } from './templates.ts';

test('what is missing of a server is named, and the sandbox is complete', () => {
  expect(Object.keys(findFaults(EMPTY_DRAFT))).toEqual(['name', 'url', 'db', 'user', 'apiKey']);
  expect(findFaults({ ...SANDBOX, url: 'erp.example.com', user: '0' })).toMatchObject({
    url: expect.any(String) as string,
    user: expect.any(String) as string,
  });
  expect(findFaults(SANDBOX)).toEqual({});
  expect(describeInstance(SANDBOX)).toMatchObject({ user_id: 2, allow_private: true });
});

test('a draft is stored without its key', () => {
  const items = new Map<string, string>();
  writeDraft(SANDBOX, { setItem: (name, text) => void items.set(name, text) });
  expect([...items.values()].join('')).not.toContain(SANDBOX.apiKey);
  expect(readDraft({ getItem: (name) => items.get(name) ?? null })).toEqual({ ...SANDBOX, apiKey: '' });
  expect(readDraft({ getItem: () => '{' })).toEqual(EMPTY_DRAFT);
});

test('each template names the instance, and allows its first call', () => {
  const templates = listStartTemplates('prod');
  expect(templates).toHaveLength(5);
  for (const { policy, firstCall } of templates) {
    expect(policy.instances).toEqual(['prod']);
    const { model_id, action } = firstCall;
    const actions = policy.models[model_id] ?? policy.models['*'] ?? [];
    expect(actions.some((name) => name === '*' || name === action)).toBe(true);
  }
  expect(findTemplate(undefined, 'prod').id).toBe('shop');
});
