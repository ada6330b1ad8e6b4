/** The state of the form for an instance. Pure. */
import {
  INSTANCE_CHECK_MEMBERS,
  INSTANCE_DEFAULTS,
  type InstanceChanges,
  type InstanceCheckInput,
  type InstanceInput,
  type InstanceView,
  pick,
} from '@erp-proxy/contract';
import { pickChanges } from '../../parts/compare-members.ts';

/** `api_key` empty: the stored one stays. A member that is left out has its default. */
export interface InstanceDraft
  extends Omit<InstanceInput, 'identity' | 'user_id' | 'api_key' | 'certificates'> {
  identity: InstanceView['identity'];
  user_id: number | null;
  api_key: string;
  certificates: string;
}

export const EMPTY_INSTANCE: InstanceDraft = {
  name: '',
  url: '',
  db: '',
  user_id: null,
  api_key: '',
  certificates: '',
  ...INSTANCE_DEFAULTS,
};

/** The members that a view shows as the form has them. The compiler reports a missing one. */
const SHOWN_MEMBERS = [
  'name',
  'url',
  'db',
  'identity',
  'user_id',
  'protocol',
  'timeout_ms',
  'concurrency',
  'certificates',
  'allow_private',
  'tags',
] as const;

export function toInstanceDraft(view: InstanceView): InstanceDraft {
  const members: Pick<InstanceView, keyof InstanceView & keyof InstanceInput> = pick(view, SHOWN_MEMBERS);
  const { rotate: rotate_key, expires_at: key_expires_at } = view.key;
  return { ...members, api_key: '', certificates: view.certificates ?? '', rotate_key, key_expires_at };
}

export function toInstanceInput(draft: InstanceDraft): InstanceInput {
  const certificates = readCertificates(draft.certificates);
  if (draft.identity === 'person') {
    const { user_id: _, api_key: __, key_expires_at: ___, ...members } = draft;
    return { ...members, certificates };
  }
  return { ...draft, user_id: draft.user_id ?? 0, certificates };
}

export function toCheckInput(draft: InstanceDraft): InstanceCheckInput {
  const { user_id, api_key } = draft;
  return { ...pick(toInstanceInput(draft), INSTANCE_CHECK_MEMBERS), api_key, user_id: user_id ?? 0 };
}

/** The members that differ from `before`. The Odoo key is included only if one was typed. */
export function toInstanceChanges(before: InstanceDraft, draft: InstanceDraft): InstanceChanges {
  const { name: _, api_key, ...next } = toInstanceInput(draft);
  return { ...pickChanges(toInstanceInput(before), next), ...(api_key ? { api_key } : {}) };
}

/** Changes after which another server could get the stored key, so that the key must be typed again. */
export function listRiskyChanges(before: InstanceDraft, draft: InstanceDraft): string[] {
  return [
    before.url === draft.url ? null : 'the address',
    readCertificates(before.certificates) === readCertificates(draft.certificates)
      ? null
      : 'the certificates',
    !before.allow_private && draft.allow_private ? 'private addresses' : null,
  ].filter((change) => change !== null);
}

function readCertificates(text: string): string | null {
  return text.trim() === '' ? null : text;
}
