/** How the server of an instance is reached, in the form that egress/ takes. */
import { hash } from 'node:crypto';
import type { EgressTrust } from '../egress/dispatcher.ts';

/** Null: like any other server. */
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
