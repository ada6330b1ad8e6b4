/** Describes how the server of an instance is reached, in the form that the egress guard takes. */
import { hash } from 'node:crypto';
import type { EgressTrust } from '@erp-proxy/egress';

/** Null: reached like any other server. */
export function trustOf({
  certificates,
  allowPrivate,
}: {
  certificates: string | null;
  allowPrivate: boolean;
}): EgressTrust | null {
  if (certificates === null && !allowPrivate) return null;
  const id = hash('sha256', JSON.stringify([certificates, allowPrivate]), 'base64url');
  return { id, certificates, isAllowed: allowPrivate };
}
