/**
 * The configuration of oidc-provider: authorization codes with PKCE, refresh tokens that are used once, and access
 * tokens that are JSON Web Tokens (RFC 9068) for the proxy itself. There are no id tokens. All other parts are off.
 */

import type { Consent } from '@erp-proxy/control/consents';
import { SIGNING_ALGORITHM, type SigningKey } from '@erp-proxy/control/consents';
import type { OwnClaims } from '@erp-proxy/control/tokens/issuers';
import { type Client, type Context, errors, interactionPolicy } from 'oidc-provider';
import type { createAdapters } from './adapter.ts';
import { DOCUMENT_BYTES_MAX } from './client-documents.ts';
import type { Confirmation } from './confirm.ts';
import { showFault } from './pages.ts';
import { findRedirectFault } from './redirects.ts';
import { PATHS, SCOPES } from './terms.ts';
import { reportStoreFailures, UnavailableError } from './unavailable.ts';

export interface ConfigurationDeps {
  /** Address of the proxy: the issuer, and the audience of tokens. */
  url: string;
  key: SigningKey;
  /** Signs the cookies that bind a sign-in to its browser. */
  cookieKey: string;
  adapters: ReturnType<typeof createAdapters>;
  /** Scopes that a resource takes; null: it is none of this proxy. */
  findScopes: (resource: string) => readonly string[] | null;
  fetchDocument: (url: string | URL) => Promise<Response>;
  /** Whether the sender of the request that is answered may make the proxy fetch a document. */
  mayFetch: () => boolean;
  readConsent: (id: string) => Promise<Consent | null>;
  confirm: (consent: Consent) => Promise<Confirmation>;
  /** Ends a consent with all tokens. */
  endConsent: (id: string, reason: string) => Promise<void>;
  /** Records that a token is issued for a consent. */
  touch: (id: string) => Promise<void>;
  /** Milliseconds since 1970. */
  clock: () => number;
}

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
/** Each call checks the consent of its token, so the time matters little. */
const ACCESS_TOKEN_SECONDS = 15 * MINUTE_SECONDS;
/** An application that does not use its refresh token for this time asks the person again. */
const REFRESH_TOKEN_SECONDS = 14 * DAY_SECONDS;
/** Time for a person to sign in and to answer. */
export const SIGN_IN_SECONDS = 15 * MINUTE_SECONDS;

export function createConfiguration(deps: ConfigurationDeps): object {
  const { url, key, cookieKey, adapters, findScopes, fetchDocument, mayFetch } = deps;
  const { readConsent, confirm, endConsent, touch, clock } = deps;

  /** The account of a person, for a code or a token of a consent. Undefined: the person may not go on. */
  async function findAccount(_: Context, person: string, source?: { kind: string; grantId?: string }) {
    const account = { accountId: person, claims: async () => ({ sub: person }) };
    if (source?.grantId === undefined) return account;
    const consent = await readConsent(source.grantId);
    if (consent === null) return undefined;
    const confirmation = await confirm(consent);
    if (confirmation === 'confirmed') return account;
    if (confirmation === 'denied') return undefined;
    if (confirmation === 'away')
      throw new UnavailableError('the identity provider does not answer; try again later');
    await endConsent(consent.id, confirmation.reason);
    return undefined;
  }

  /** Names the person as tokens of its provider do, and the consent. */
  async function completeToken(_: Context, token: IssuedToken, parts: TokenParts): Promise<void> {
    const consent = await readConsent(token.grantId);
    if (consent === null) throw new errors.InvalidGrant('the consent has ended');
    await touch(consent.id);
    const slash = consent.person.indexOf('/');
    const own: OwnClaims = { provider: consent.person.slice(0, slash), consent: consent.id };
    const now = Math.floor(clock() / 1000);
    parts.payload = {
      ...parts.payload,
      ...own,
      sub: consent.person.slice(slash + 1),
      iat: now,
      exp: now + ACCESS_TOKEN_SECONDS,
    };
  }

  return {
    adapter: (kind: string) => adapters(kind),
    jwks: { keys: [key] },
    cookies: {
      keys: [cookieKey],
      names: { session: 'ep_oauth_session', interaction: 'ep_oauth', resume: 'ep_oauth_resume' },
      long: { httpOnly: true, sameSite: 'lax', signed: true },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    routes: {
      authorization: PATHS.authorize,
      token: PATHS.token,
      revocation: PATHS.revoke,
      jwks: PATHS.keys,
    },
    scopes: [...SCOPES],
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: SIGNING_ALGORITHM,
    },
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM] },
    pkce: { required: () => true },
    clientBasedCORS: (_: Context, origin: string, client: Client) =>
      client.redirectUris.some((uri) => URL.parse(uri)?.origin === origin),
    features: {
      claimsParameter: { enabled: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: mayFetch,
        allowClient: (_: Context, client: Client) =>
          client.redirectUris.every((uri) => findRedirectFault(uri, url) === null),
        cacheDuration: { min: MINUTE_SECONDS, max: DAY_SECONDS },
      },
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_: Context, __: Client, several?: readonly string[]) => several ?? url,
        useGrantedResource: () => true,
        getResourceServerInfo(_: Context, resource: string) {
          const scopes = findScopes(resource);
          if (scopes === null) throw new errors.InvalidTarget();
          return {
            scope: scopes.join(' '),
            audience: url,
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: SIGNING_ALGORITHM } },
          };
        },
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_: Context, client: Client, token: { clientId: string }) =>
          token.clientId === client.clientId,
      },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    fetch: fetchDocument,
    fetchResponseBodyLimits: { 'client_id metadata document': DOCUMENT_BYTES_MAX },
    findAccount: reportStoreFailures(findAccount),
    formats: { customizers: { jwt: reportStoreFailures(completeToken) } },
    interactions: {
      policy: [
        new interactionPolicy.Prompt(
          { name: 'login', requestable: true },
          new interactionPolicy.Check(
            'sign_in',
            'the person signs in',
            'login_required',
            ({ oidc }) => oidc.result?.['login'] === undefined,
          ),
        ),
        new interactionPolicy.Prompt(
          { name: 'consent', requestable: true },
          new interactionPolicy.Check(
            'agree',
            'the person agrees',
            'consent_required',
            ({ oidc }) => oidc.result?.['consent'] === undefined,
          ),
        ),
      ],
      url: (_: Context, { uid }: { uid: string }) => `${url}${PATHS.pages}/${uid}`,
    },
    issueRefreshToken: (_: Context, client: Client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: MINUTE_SECONDS,
      Grant: DAY_SECONDS,
      IdToken: MINUTE_SECONDS,
      Interaction: SIGN_IN_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: SIGN_IN_SECONDS,
    },
    renderError(context: Context, out: { error: string; error_description?: string }) {
      const page = showFault(context.status, explainError(out));
      for (const [name, value] of Object.entries(page.headers)) context.set(name, value);
      context.body = page.body;
    },
  };
}

interface IssuedToken {
  readonly grantId: string;
}

interface TokenParts {
  payload: object;
}

function explainError({
  error,
  error_description: description,
}: {
  error: string;
  error_description?: string;
}) {
  switch (error) {
    case 'invalid_client':
      return 'The application is not known here, or its description could not be read. Remove the connection in the application, and add it again.';
    case 'invalid_redirect_uri':
      return 'The application asks to send its answer to an address that it has not registered.';
    case 'invalid_target':
      return 'The application asks for access to another server.';
    case 'temporarily_unavailable':
      return `${description?.replace(/^./, (first) => first.toUpperCase())}.`;
    default:
      return description === undefined || error === 'server_error'
        ? 'The proxy failed. Try again later.'
        : `The request of the application is not valid: ${description}.`;
  }
}

/** The metadata of the server (RFC 8414). */
export function describeServer(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: url + PATHS.authorize,
    token_endpoint: url + PATHS.token,
    registration_endpoint: url + PATHS.register,
    revocation_endpoint: url + PATHS.revoke,
    jwks_uri: url + PATHS.keys,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}
