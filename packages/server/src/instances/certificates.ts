/** Judges certificates in PEM, as an operator pastes them. Knows nothing of whom they are trusted for. */
import { X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** What is wrong with the text, to be read behind the name of the member that holds it; null where nothing is. */
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
