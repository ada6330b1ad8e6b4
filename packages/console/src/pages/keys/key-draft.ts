/** The state of the form for a key, without its policy, which has a form of its own. Pure. */
import { KEY_MEMBERS, type KeyInput, type KeyView, pick } from '@erp-proxy/contract';

export type KeyDraft = Omit<Required<KeyInput>, 'policy'>;

export const EMPTY_KEY: KeyDraft = { name: '', expires_at: null, for: null };

export function toKeyDraft(view: KeyView): KeyDraft {
  const { policy: _, ...members } = pick(view, KEY_MEMBERS);
  return members;
}
