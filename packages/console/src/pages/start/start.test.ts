import { expect, test } from 'vitest';
import { readLines } from './examine.ts';
import { describeInstance, EMPTY_DRAFT, findFaults, readDraft, SANDBOX, writeDraft } from './server-draft.ts';
import { applyTemplate, findTemplate, TEMPLATES } from './templates.ts';

test('lines are read whole, however they arrive', async () => {
  const bytes = new TextEncoder().encode('{"a":"é"}\n\n{"b":2}\n{"c":3}');
  for (const size of [1, 3, 100]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const lines: string[] = [];
    for await (const line of readLines(body)) lines.push(line);
    expect(lines).toEqual(['{"a":"é"}', '{"b":2}', '{"c":3}']);
  }
});

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
  for (const template of TEMPLATES) {
    const policy = applyTemplate(template, 'prod');
    expect(policy.instances).toEqual(['prod']);
    const { model_id, action } = template.firstCall;
    const actions = policy.models[model_id] ?? policy.models['*'] ?? [];
    expect(actions.some((name) => name === '*' || name === action)).toBe(true);
  }
  expect(findTemplate(undefined).id).toBe('shop');
});
