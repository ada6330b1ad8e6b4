/**
 * The server that a person adds, as typed, and as sent to the admin API. The key is never put into the browser's
 * storage.
 */
import type { InstanceInput } from '@erp-proxy/contract';
import type { AdminRequest } from '../../api/send.ts';

export interface ServerDraft {
  name: string;
  url: string;
  db: string;
  user: string;
  apiKey: string;
  isPrivateAllowed: boolean;
}

export const EMPTY_DRAFT: ServerDraft = {
  name: '',
  url: '',
  db: '',
  user: '',
  apiKey: '',
  isPrivateAllowed: false,
};

/** The values that `npx erp-proxy sandbox` prints. Its key opens nothing but simulated data. */
export const SANDBOX: ServerDraft = {
  name: 'sandbox',
  url: 'http://127.0.0.1:8069',
  db: 'sandbox',
  user: '2',
  apiKey: `5a17b0c5ad0e${'1'.repeat(28)}`,
  isPrivateAllowed: true,
};

export function describeInstance(draft: ServerDraft): InstanceInput {
  return {
    name: draft.name.trim(),
    url: draft.url.trim(),
    db: draft.db.trim(),
    user_id: Number(draft.user),
    api_key: draft.apiKey,
    allow_private: draft.isPrivateAllowed,
  };
}

/** The request that tests the server without storing it. */
export function describeCheck(draft: ServerDraft): AdminRequest {
  const { name: _, ...body } = describeInstance(draft);
  return { method: 'POST', path: '/instances/check', body };
}

/** Returns the faults of the draft by member. */
export function findFaults(draft: ServerDraft): Partial<Record<keyof ServerDraft, string>> {
  const faults: Partial<Record<keyof ServerDraft, string>> = {};
  if (draft.name.trim() === '') faults.name = 'Choose a short name, such as prod';
  if (!/^https?:\/\/\S+$/.test(draft.url.trim())) faults.url = 'Begin with https:// or http://';
  if (draft.db.trim() === '') faults.db = 'Odoo shows it in Settings, and before the login';
  if (!/^[1-9]\d*$/.test(draft.user)) faults.user = 'A positive number';
  if (draft.apiKey === '') faults.apiKey = 'Create one in Odoo: Preferences, Account Security, New API Key';
  return faults;
}

const STORAGE_KEY = 'erp-proxy.start.server';

/** Restores the draft after a reload, without the key. */
export function readDraft(storage: Pick<Storage, 'getItem'>): ServerDraft {
  try {
    const stored = JSON.parse(storage.getItem(STORAGE_KEY) ?? '{}') as Record<string, unknown>;
    const text = (name: string) => (typeof stored[name] === 'string' ? stored[name] : '');
    return {
      name: text('name'),
      url: text('url'),
      db: text('db'),
      user: text('user'),
      apiKey: '',
      isPrivateAllowed: stored['isPrivateAllowed'] === true,
    };
  } catch {
    return EMPTY_DRAFT;
  }
}

export function writeDraft({ apiKey: _, ...draft }: ServerDraft, storage: Pick<Storage, 'setItem'>): void {
  try {
    storage.setItem(STORAGE_KEY, JSON.stringify(draft));
  } catch {
    // Without storage, a reload loses the draft.
  }
}
