/** The trust in the server of an instance: its certificates, and what the egress guard gets of them. */
import { hash, X509Certificate } from 'node:crypto';
import type { EgressTrust } from '@erp-proxy/egress';

/** How the server is reached, in the form that the egress guard takes. Null: like any other server. */
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

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/**
 * The error of certificates in PEM, as an operator enters them, worded to follow the name of the member; null if there
 * is none. Does not know for which server they are trusted.
 */
export function findCertificateError(pem: string): string | null {
  if (pem.includes('PRIVATE KEY-----')) return 'must not have a private key in it: give certificates only';
  const certificates = pem.match(CERTIFICATE) ?? [];
  const begun = pem.split('-----BEGIN ').length - 1;
  if (certificates.length === 0 || certificates.length < begun) {
    return 'must be PEM: whole blocks from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----';
  }
  const bad = certificates.findIndex((certificate) => !isReadable(certificate));
  return bad === -1
    ? null
    : `has a certificate that cannot be read, number ${bad + 1} of ${begun}: copy it again`;
}

function isReadable(certificate: string): boolean {
  try {
    new X509Certificate(certificate);
    return true;
  } catch {
    return false;
  }
}
