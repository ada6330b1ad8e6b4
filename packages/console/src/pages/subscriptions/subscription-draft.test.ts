import type { SubscriptionView } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import {
  beginsAnew,
  EMPTY_SUBSCRIPTION,
  listSubscriptionChanges,
  readSubscription,
  toSubscriptionDraft,
} from './subscription-draft.ts';

const DRAFT = { ...EMPTY_SUBSCRIPTION, name: 'contacts', instance: 'prod', model: 'res.partner' };

test.each([
  ['', []],
  ['[]', []],
  ['[["a", "=", 1]]', [['a', '=', 1]]],
])('the domain %j is read', (domain, value) => {
  expect(readSubscription({ ...DRAFT, domain })).toHaveProperty('input.domain', value);
});

test.each(['{}', '[', 'null', '"a"'])('%j is no domain', (domain) => {
  expect(readSubscription({ ...DRAFT, domain })).toHaveProperty('mistake');
});

test('changes are only what differs, and some of them begin anew', () => {
  const read = (draft: typeof DRAFT) => {
    const found = readSubscription(draft);
    if ('mistake' in found) throw new Error(found.mistake);
    return found.input;
  };
  const changes = listSubscriptionChanges(read(DRAFT), read({ ...DRAFT, url: 'https://a', domain: ' [ ] ' }));
  expect(changes).toEqual({ url: 'https://a' });
  expect(beginsAnew(changes)).toBe(false);
  expect(beginsAnew({ key: null })).toBe(true);
});

test('a subscription to the ends of keys has no members of records', () => {
  expect(readSubscription({ ...DRAFT, source: 'events', domain: '{', url: 'https://a' })).toEqual({
    input: { name: 'contacts', events: ['key.ends'], url: 'https://a', interval_seconds: 60, start: 'now' },
  });
});

test('the draft of a stored subscription has what an operator may give, and no further member of the view', () => {
  const shared = { name: 'contacts', url: 'https://a', interval_seconds: 60, start: 'now' } as const;
  const records = { instance: 'prod', model: 'res.partner', fields: ['name'], payload: 'full', gone: false };
  const view = {
    ...{ ...shared, ...records, domain: [], key: null },
    ...{ state: 'active', problem: null, version: 3, member_of_a_later_release: 1 },
  } as unknown as SubscriptionView;
  expect(toSubscriptionDraft(view)).toEqual({
    ...{ ...shared, ...records },
    ...{ source: 'records', events: [], domain: '[]', key: '' },
  });
});

test('the draft of a stored subscription to events keeps all of them', () => {
  const shared = { name: 'ends', url: 'https://a', interval_seconds: 5, start: 'now' } as const;
  const view = { ...shared, events: ['key.ends', 'job.ended'], version: 1 } as unknown as SubscriptionView;
  expect(readSubscription(toSubscriptionDraft(view))).toEqual({
    input: { ...shared, events: ['key.ends', 'job.ended'] },
  });
});
