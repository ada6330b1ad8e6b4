import type { KeyView } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { toKeyDraft } from './key-draft.ts';

test('the draft of a stored key has what an operator may give, without the policy', () => {
  const view = { id: 'k', name: 'shop', expires_at: null, policy: null, state: 'active' } as KeyView;
  expect(toKeyDraft(view)).toEqual({ name: 'shop', expires_at: null });
});
