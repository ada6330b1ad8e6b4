/** Finds changes that could send an instance's stored key to another server. They require the key again. Pure. */
import { parseBaseUrl } from '@erp-proxy/egress/policy';

/** The members by which a call finds and authenticates its server. */
export interface ServerIdentity {
  url: string;
  certificates: string | null;
  allow_private: boolean;
}

/**
 * The member whose change requires the key again: `url` if it names another server, the others if they let more servers
 * pass for this one. Null if there is none.
 */
export function findRedirection(
  before: ServerIdentity,
  { url, certificates, allow_private }: Partial<ServerIdentity>,
): keyof ServerIdentity | null {
  if (url !== undefined && !isSameServer(url, before.url)) return 'url';
  if (certificates !== undefined && certificates !== before.certificates) return 'certificates';
  return allow_private === true && !before.allow_private ? 'allow_private' : null;
}

/** Compares the parsed addresses, so that spelling does not matter. */
function isSameServer(one: string, other: string): boolean {
  return JSON.stringify(parseBaseUrl(one)) === JSON.stringify(parseBaseUrl(other));
}
