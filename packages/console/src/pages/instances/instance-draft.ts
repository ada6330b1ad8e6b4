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
export interface InstanceDraft extends Omit<InstanceInput, 'user_id' | 'certificates'> {
  user_id: number | null;
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
  'user_id',
  'protocol',
  'timeout_ms',
  'concurrency',
  'certificates',
  'allow_private',
] as const;

export function toInstanceDraft(view: InstanceView): InstanceDraft {
  const members: Pick<InstanceView, keyof InstanceView & keyof InstanceInput> = pick(view, SHOWN_MEMBERS);
  const { rotate: rotate_key, expires_at: key_expires_at } = view.key;
  return { ...members, api_key: '', certificates: view.certificates ?? '', rotate_key, key_expires_at };
}

export function toInstanceInput(draft: InstanceDraft): InstanceInput {
  return { ...draft, user_id: draft.user_id ?? 0, certificates: readCertificates(draft.certificates) };
}

export function toCheckInput(draft: InstanceDraft): InstanceCheckInput {
  const input = toInstanceInput(draft);
  return { ...pick(input, INSTANCE_CHECK_MEMBERS), user_id: input.user_id };
}

/** The members that differ from `before`. The Odoo key is included only if one was typed. */
export function toInstanceChanges(before: InstanceDraft, draft: InstanceDraft): InstanceChanges {
  const { name: _, api_key, ...next } = toInstanceInput(draft);
  return { ...pickChanges(toInstanceInput(before), next), ...(api_key === '' ? {} : { api_key }) };
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
