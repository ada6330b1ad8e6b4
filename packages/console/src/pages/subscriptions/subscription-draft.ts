/** The state of the form for a subscription. Pure. */
import {
  pick,
  RECORD_SUBSCRIPTION_MEMBERS,
  RESTARTING_MEMBERS,
  SHARED_SUBSCRIPTION_MEMBERS,
  SUBSCRIPTION_DEFAULTS,
  type SubscriptionChanges,
  type SubscriptionEvent,
  type SubscriptionInput,
  type SubscriptionView,
  tryParse,
} from '@erp-proxy/contract';
import { pickChanges } from '../../parts/compare-members.ts';
import { printJson } from '../../parts/print-json.ts';

/** A member that is left out has its default. */
export interface SubscriptionDraft extends Omit<SubscriptionInput, 'events' | 'domain' | 'key'> {
  /** Events of the proxy have no members of records. */
  source: 'records' | 'events';
  events: SubscriptionEvent[];
  instance: string;
  model: string;
  /** The domain as JSON; empty: all records. */
  domain: string;
  fields: string[];
  /** Id of a key; empty: no policy restricts its calls. */
  key: string;
}

export const EMPTY_SUBSCRIPTION: SubscriptionDraft = {
  ...SUBSCRIPTION_DEFAULTS,
  name: '',
  source: 'records',
  events: ['key.ends'],
  instance: '',
  model: '',
  domain: '[]',
  fields: [],
  url: '',
  key: '',
};

export function toSubscriptionDraft(view: SubscriptionView): SubscriptionDraft {
  if (view.events !== undefined) {
    const shared = pick(view, SHARED_SUBSCRIPTION_MEMBERS);
    return { ...EMPTY_SUBSCRIPTION, ...shared, name: view.name, source: 'events', events: [...view.events] };
  }
  const members = pick(view, ['name', ...SHARED_SUBSCRIPTION_MEMBERS, ...RECORD_SUBSCRIPTION_MEMBERS]);
  const { domain, key } = members;
  return { ...members, source: 'records', events: [], domain: printJson(domain), key: key ?? '' };
}

/** `mistake` says what to correct before the draft can be sent. */
export function readSubscription(
  draft: SubscriptionDraft,
): { input: SubscriptionInput } | { mistake: string } {
  const { source, events, domain, key, ...members } = draft;
  if (source === 'events')
    return { input: { ...pick(members, ['name', ...SHARED_SUBSCRIPTION_MEMBERS]), events } };
  const parsed = readDomain(domain);
  if (parsed === null)
    return { mistake: 'The domain must be a JSON list, e.g. [["is_company", "=", true]].' };
  return { input: { ...members, domain: parsed, key: key === '' ? null : key } };
}

function readDomain(text: string): unknown[] | null {
  if (text.trim() === '') return [];
  const value = tryParse(text);
  return Array.isArray(value) ? value : null;
}

export function listSubscriptionChanges(
  before: SubscriptionInput,
  { name: _, ...next }: SubscriptionInput,
): SubscriptionChanges {
  return pickChanges(before, next);
}

/** True if the change makes the subscription begin anew, as its `start` says. */
export function beginsAnew(changes: SubscriptionChanges): boolean {
  return Object.keys(changes).some((member) => RESTARTING_MEMBERS.includes(member));
}
