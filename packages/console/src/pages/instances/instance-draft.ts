/** An instance that is being written, as a form holds it. Pure. */
import type {
  InstanceChanges,
  InstanceCheckInput,
  InstanceInput,
  InstanceProtocol,
  InstanceView,
} from '@erp-proxy/contract';
import { isSame } from '../../parts/compare-members.ts';

export interface InstanceDraft {
  name: string;
  url: string;
  db: string;
  user_id: number | null;
  /** Empty: the stored one stays. */
  api_key: string;
  protocol: InstanceProtocol;
  timeout_ms: number | null;
  concurrency: number | null;
  certificates: string;
  allow_private: boolean;
  rotate_key: boolean;
  key_expires_at: string | null;
}

export const EMPTY_INSTANCE: InstanceDraft = {
  name: '',
  url: '',
  db: '',
  user_id: null,
  api_key: '',
  protocol: 'auto',
  timeout_ms: null,
  concurrency: null,
  certificates: '',
  allow_private: false,
  rotate_key: false,
  key_expires_at: null,
};

export function toInstanceDraft(view: InstanceView): InstanceDraft {
  const { name, url, db, user_id, protocol, timeout_ms, concurrency, certificates, allow_private, key } =
    view;
  return {
    name,
    url,
    db,
    user_id,
    api_key: '',
    protocol,
    timeout_ms,
    concurrency,
    certificates: certificates ?? '',
    allow_private,
    rotate_key: key.rotate,
    key_expires_at: key.expires_at,
  };
}

export function toInstanceInput({ user_id, certificates, ...draft }: InstanceDraft): InstanceInput {
  return { ...draft, user_id: user_id ?? 0, certificates: readCertificates(certificates) };
}

export function toCheckInput(draft: InstanceDraft): InstanceCheckInput {
  const {
    name: _,
    concurrency: __,
    rotate_key: ___,
    key_expires_at: ____,
    ...checked
  } = toInstanceInput(draft);
  return checked;
}

/** What differs from `before`. The Odoo key is sent only if one was typed. */
export function toInstanceChanges(before: InstanceDraft, draft: InstanceDraft): InstanceChanges {
  const { name: _, api_key, ...next } = toInstanceInput(draft);
  const stored: object = toInstanceInput(before);
  const changed = Object.entries(next).filter(
    ([member, value]) => !isSame(stored[member as keyof typeof stored], value),
  );
  return { ...Object.fromEntries(changed), ...(api_key === '' ? {} : { api_key }) };
}

/** Changes after which another server could get the stored key, so that the proxy asks for it again. */
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
