/**
 * Registers applications that describe themselves (RFC 7591). Anybody can do so: what an application says about itself
 * is not checked, but for the addresses to which its codes go. Bounded in size, rate, number and age.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { NEW_CLIENT } from './adapter.ts';
import type { Objects } from './objects.ts';
import { type Rate, RETRY_AFTER_SECONDS } from './rates.ts';
import { findRedirectFault, nameApplication } from './redirects.ts';
import type { JsonAnswer } from './terms.ts';

/** Applications that nobody has agreed to are forgotten after this time. */
const UNUSED_MS = 86_400_000;
const CLIENTS_MAX = 5000;

const REDIRECT_URIS = z.array(z.string()).min(1).max(10);
const METADATA = z.object({
  client_name: z.string().max(1000).optional(),
  grant_types: z.array(z.string()).max(20).optional(),
  response_types: z.array(z.string()).max(20).optional(),
  token_endpoint_auth_method: z.enum(['none', 'client_secret_basic', 'client_secret_post']).optional(),
});

export interface RegistrationDeps {
  objects: Pick<Objects, 'put'>;
  rate: Rate;
  /** Address of the proxy. */
  url: string;
  /** Milliseconds since 1970. */
  clock: () => number;
}

export async function register(
  given: unknown,
  address: string,
  { objects, rate, url, clock }: RegistrationDeps,
): Promise<JsonAnswer> {
  if (!rate.take(address)) {
    return refuse(
      429,
      'temporarily_unavailable',
      `Too many registrations: try again in ${RETRY_AFTER_SECONDS} s.`,
    );
  }
  const uris = REDIRECT_URIS.safeParse((given as { redirect_uris?: unknown } | null)?.redirect_uris);
  if (!uris.success) return refuse(400, 'invalid_redirect_uri', 'redirect_uris must list 1 to 10 URLs.');
  for (const uri of uris.data) {
    const fault = findRedirectFault(uri, url);
    if (fault !== null) return refuse(400, 'invalid_redirect_uri', `redirect_uris ${fault}.`);
  }
  const read = METADATA.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    return refuse(
      400,
      'invalid_client_metadata',
      `${issue?.path.join('.') || 'The body'} is not supported: ${issue?.message}.`,
    );
  }
  const { client_name, grant_types = ['authorization_code'], response_types = ['code'] } = read.data;
  if (!grant_types.includes('authorization_code') || !response_types.includes('code')) {
    return refuse(
      400,
      'invalid_client_metadata',
      'Only the grant authorization_code with the response type code is supported.',
    );
  }
  const method = read.data.token_endpoint_auth_method ?? 'client_secret_basic';
  const now = clock();
  const client = {
    client_id: randomBytes(24).toString('base64url'),
    client_id_issued_at: Math.floor(now / 1000),
    client_name: nameApplication(client_name, uris.data[0]!),
    redirect_uris: uris.data,
    grant_types: ['authorization_code', 'refresh_token'].filter((type) => grant_types.includes(type)),
    response_types: ['code'],
    token_endpoint_auth_method: method,
    // Only such an application may use any port of the machine of the browser (RFC 8252 section 7.3).
    application_type: 'native',
    ...(method === 'none'
      ? {}
      : { client_secret: randomBytes(32).toString('base64url'), client_secret_expires_at: 0 }),
  };
  await objects.put(NEW_CLIENT, client.client_id, {
    content: client,
    expiresAt: now + UNUSED_MS,
    max: CLIENTS_MAX,
  });
  return { status: 201, body: client };
}

function refuse(status: number, error: string, description: string): JsonAnswer {
  return { status, body: { error, error_description: description } };
}
