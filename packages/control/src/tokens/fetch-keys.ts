/** Fetches the keys of an issuer, through the egress guard. Redirects are not followed. */
import { cutText } from '@erp-proxy/contract';
import { type EgressDispatcher, type EgressTrust, fetchWhole } from '@erp-proxy/egress';
import { readValue } from '@erp-proxy/json';
import type { Issuer } from './issuer.ts';
import { type KeySet, KeySetError, readKeySet } from './key-set.ts';

/** Time limit for both requests together. */
const TIMEOUT_MS = 10_000;
/** Maximum size of a document. Key sets of common providers have 2 to 20 KiB. */
const BYTES_MAX = 256 * 1024;

/** Rejects with a {@link KeySetError}, whose message is for the operator's log. */
export async function fetchKeys(issuer: Issuer, egress: EgressDispatcher): Promise<KeySet> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const get = (url: string) => fetchDocument(url, chooseTrust(url, issuer), egress, signal);
  const url = issuer.jwksUrl ?? readKeysUrl(await get(nameConfiguration(issuer.url)), issuer.url);
  return readKeySet(await get(url));
}

/** URL of the configuration by OpenID Connect Discovery 1.0 section 4. */
function nameConfiguration(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** `trust` applies to servers that the operator named. The configuration of the issuer must not extend it to others. */
function chooseTrust(url: string, { url: issuer, jwksUrl, trust }: Issuer): EgressTrust | null {
  const isNamed = url === jwksUrl || URL.parse(url)?.origin === URL.parse(issuer)?.origin;
  return isNamed ? trust : null;
}

/**
 * Reads the URL of the keys. The configuration must name the issuer: that of another issuer could name its own keys
 * (section 4.3).
 */
function readKeysUrl(bytes: Uint8Array, issuer: string): string {
  let found: unknown;
  try {
    found = readValue(bytes);
  } catch (error) {
    throw new KeySetError(`the OpenID configuration is not JSON: ${(error as Error).message}`);
  }
  const members = (typeof found === 'object' && found !== null ? found : {}) as Record<string, unknown>;
  if (members['issuer'] !== issuer) {
    const named = cutText(JSON.stringify(members['issuer'] ?? null), 200);
    throw new KeySetError(
      `the OpenID configuration is of the issuer ${named}, not of ${JSON.stringify(issuer)}`,
    );
  }
  const url = members['jwks_uri'];
  if (typeof url !== 'string' || !URL.canParse(url))
    throw new KeySetError('the OpenID configuration has no jwks_uri');
  return url;
}

async function fetchDocument(
  url: string,
  trust: EgressTrust | null,
  egress: EgressDispatcher,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { origin, pathname, search } = new URL(url);
  const answer = await fetchWhole(
    egress,
    {
      method: 'GET',
      origin,
      path: pathname + search,
      headers: { accept: 'application/json' },
      body: null,
      trust,
    },
    { signal, bytesMax: BYTES_MAX },
  );
  if (!answer.ok) throw new KeySetError(`${origin}${pathname}: ${answer.reason} (${answer.detail})`);
  if (answer.status !== 200)
    throw new KeySetError(`${origin}${pathname} answered with status ${answer.status}`);
  return answer.body;
}
