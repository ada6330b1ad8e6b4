/**
 * Finds changes that could send the stored key of an instance to another server. With such a change, the key must be
 * given again. Pure.
 */
import { parseBaseUrl } from '@erp-proxy/egress/policy';

/** The members by which a call finds and authenticates its server. */
export interface ServerIdentity {
  url: string;
  certificates: string | null;
  allow_private: boolean;
}

/**
 * The member whose change requires the key again: `url` if it names another server, `certificates` or `allow_private`
 * if more servers could be taken for the same one. Null if there is none.
 */
export function findRedirection(
  before: ServerIdentity,
  { url, certificates, allow_private }: Partial<ServerIdentity>,
): keyof ServerIdentity | null {
  if (url !== undefined && !isSameServer(url, before.url)) return 'url';
  if (certificates !== undefined && certificates !== before.certificates) return 'certificates';
  return allow_private === true && !before.allow_private ? 'allow_private' : null;
}

/** Compares the parsed addresses, so that different spellings count as equal. */
function isSameServer(one: string, other: string): boolean {
  return JSON.stringify(parseBaseUrl(one)) === JSON.stringify(parseBaseUrl(other));
}
