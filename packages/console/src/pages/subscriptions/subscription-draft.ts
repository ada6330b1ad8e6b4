/** The state of the form for a subscription. Pure. */
import {
  SUBSCRIPTION_DEFAULTS,
  type SubscriptionChanges,
  type SubscriptionInput,
  type SubscriptionPayload,
  type SubscriptionStart,
  type SubscriptionView,
} from '@erp-proxy/contract';
import { isSame } from '../../parts/compare-members.ts';
import { printJson } from '../../parts/print-json.ts';

export interface SubscriptionDraft {
  name: string;
  /** `key.ends`: sends events about ending client keys, and has no members about records. */
  source: 'records' | 'key.ends';
  instance: string;
  model: string;
  /** The domain as JSON; empty: all records. */
  domain: string;
  fields: string[];
  url: string;
  interval_seconds: number;
  payload: SubscriptionPayload;
  gone: boolean;
  start: SubscriptionStart;
  /** Id of the key as which records are read; empty: no policy restricts the calls. */
  key: string;
}

export const EMPTY_SUBSCRIPTION: SubscriptionDraft = {
  ...SUBSCRIPTION_DEFAULTS,
  name: '',
  source: 'records',
  instance: '',
  model: '',
  domain: '[]',
  fields: [],
  url: '',
  key: '',
};

export function toSubscriptionDraft(view: SubscriptionView): SubscriptionDraft {
  const { name, url, interval_seconds, start } = view;
  const shared = { ...EMPTY_SUBSCRIPTION, name, url, interval_seconds, start };
  if (view.events !== undefined) return { ...shared, source: 'key.ends' };
  const { instance, model, fields, payload, gone, domain, key } = view;
  return { ...shared, instance, model, fields, payload, gone, domain: printJson(domain), key: key ?? '' };
}

/** `mistake` says what to correct before the draft can be sent. */
export function readSubscription(
  draft: SubscriptionDraft,
): { input: SubscriptionInput } | { mistake: string } {
  const { source, domain, key, ...members } = draft;
  if (source === 'key.ends') {
    const { name, url, interval_seconds, start } = members;
    return { input: { name, events: [source], url, interval_seconds, start } };
  }
  const parsed = readDomain(domain);
  if (parsed === null)
    return { mistake: 'The domain must be a JSON list, e.g. [["is_company", "=", true]].' };
  return { input: { ...members, domain: parsed, key: key === '' ? null : key } };
}

function readDomain(text: string): unknown[] | null {
  if (text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

export function listSubscriptionChanges(
  before: SubscriptionInput,
  { name: _, ...next }: SubscriptionInput,
): SubscriptionChanges {
  const changed = Object.entries(next).filter(
    ([member, value]) => !isSame(before[member as keyof SubscriptionInput], value),
  );
  return Object.fromEntries(changed);
}

const ANEW = ['instance', 'model', 'domain', 'fields', 'gone', 'start', 'key'];

/** True if the change makes the subscription start again, by its member `start`. */
export function beginsAnew(changes: SubscriptionChanges): boolean {
  return Object.keys(changes).some((member) => ANEW.includes(member));
}
