/** Which changes could let another server have an instance's stored key, so that they need the key anew. Pure. */
import { parseBaseUrl } from '../egress/base-url.ts';

/** The members by which a call finds its server and knows it for the right one. */
export interface Way {
  url: string;
  certificates: string | null;
  allow_private: boolean;
}

/** The member that needs the key anew: `url` where it is another server's, the others where more could pass for this one. */
export function findRedirection(
  before: Way,
  { url, certificates, allow_private }: Partial<Way>,
): keyof Way | null {
  if (url !== undefined && !isSameServer(url, before.url)) return 'url';
  if (certificates !== undefined && certificates !== before.certificates) return 'certificates';
  return allow_private === true && !before.allow_private ? 'allow_private' : null;
}

/** However the two are written. */
function isSameServer(one: string, other: string): boolean {
  return JSON.stringify(parseBaseUrl(one)) === JSON.stringify(parseBaseUrl(other));
}
