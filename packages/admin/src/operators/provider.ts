/**
 * Speaks OpenID Connect with the identity provider of operators. All requests go through the egress guard. Knows
 * neither sessions nor roles.
 */
import { SingleFlight } from '@erp-proxy/async/tasks';
import { cutText } from '@erp-proxy/contract';
import { cleanName } from '@erp-proxy/control/audit';
import { type Claims, SUBJECT } from '@erp-proxy/control/tokens/issuers';
import { type EgressDispatcher, fetchWhole } from '@erp-proxy/egress';
import { createRemoteJWKSet, customFetch as customKeyFetch, type JWTPayload, jwtVerify } from 'jose';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  type ServerMetadata,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  tokenRevocation,
} from 'openid-client';
import type { OperatorProvider } from './parse-operators.ts';
import { ProviderError } from './provider-error.ts';

const TIMEOUT_SECONDS = 10;
/** Maximum size of an answer of the provider. */
const BYTES_MAX = 256 * 1024;
/** Tolerance for clocks that differ, as the default of `auth.issuers`. */
const SKEW_SECONDS = 60;
/** Time for which the configuration of the provider is kept. */
const KEPT_MS = 600_000;
const NAME_LENGTH_MAX = 100;
const ID_LENGTH_MAX = 255;
/** Maximum age of a logout token. */
const LOGOUT_MS = 300_000;
/** No symmetric ones: their secret is that of the client. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** What the answer of the provider is checked against. The values are secrets of one browser. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A person, as the provider has just confirmed. */
export interface Confirmed {
  readonly subject: string;
  readonly name: string;
  /** Those of the id token, and those that only the user info has. */
  readonly claims: Claims;
  readonly refreshToken: string | null;
  /** The claim `sid`: id of the session at the provider. */
  readonly providerSession: string | null;
}

/** What a logout token ends: the session of this id, or all sessions of the subject. */
export interface Logout {
  readonly subject: string | null;
  readonly providerSession: string | null;
  /** Unique for the token. */
  readonly id: string;
  /** Milliseconds for which a token of this age is accepted at most. */
  readonly acceptedForMs: number;
}

/** Methods reject with a {@link ProviderError}. */
export interface Provider {
  /** The address at which the provider asks a person to sign in. */
  begin(redirectUri: string): Promise<{ url: string; checks: SignInChecks }>;
  /** `answer` is the redirect URI with the parameters that the provider has added. */
  finish(answer: URL, checks: SignInChecks): Promise<Confirmed>;
  /** Asks whether a person may go on. */
  askAgain(refreshToken: string): Promise<Confirmed>;
  /** Tells the provider that the refresh token is no longer needed. */
  revoke(refreshToken: string): Promise<void>;
  /** Checks a logout token of the provider. */
  readLogout(token: string): Promise<Logout>;
}

export interface ProviderOptions {
  settings: Omit<OperatorProvider, 'clientSecret'>;
  /** The secret of the client, which can change. */
  readClientSecret: () => string;
  egress: EgressDispatcher;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** A monotonic clock in milliseconds. */
  nowMs: () => number;
}

export function createProvider({
  settings,
  readClientSecret,
  egress,
  clock,
  nowMs,
}: ProviderOptions): Provider {
  const { issuer, clientId, scopes } = settings;
  const issuerUrl = new URL(issuer);
  const send = createFetch(settings, egress);
  const discoveries = new SingleFlight<ServerMetadata>();
  let known: { metadata: ServerMetadata; readAt: number } | null = null;
  let keys: { address: string; set: ReturnType<typeof createRemoteJWKSet> } | null = null;

  async function discover(): Promise<ServerMetadata> {
    if (known !== null && nowMs() - known.readAt < KEPT_MS) return known.metadata;
    return discoveries.run('', async () => {
      const config = await discovery(issuerUrl, clientId, readClientSecret(), undefined, {
        [customFetch]: send,
        timeout: TIMEOUT_SECONDS,
        ...(issuerUrl.protocol === 'http:' ? { execute: [allowInsecureRequests] } : {}),
      });
      const metadata = config.serverMetadata();
      // Some providers have a configuration for the accounts of every organization, whose issuer is a template.
      if (metadata.issuer !== issuer) {
        const found = cutText(metadata.issuer, 200);
        throw new ProviderError(
          'away',
          `the OpenID configuration is of the issuer ${found}, not of ${issuer}`,
        );
      }
      known = { metadata, readAt: nowMs() };
      return metadata;
    });
  }

  async function configure(): Promise<Configuration> {
    const metadata = await discover();
    const clientSecret = readClientSecret();
    const methods = metadata.token_endpoint_auth_methods_supported ?? [];
    const authenticate = methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic;
    const config = new Configuration(
      metadata,
      clientId,
      {
        client_secret: clientSecret,
        [clockTolerance]: SKEW_SECONDS,
      },
      authenticate(clientSecret),
    );
    config[customFetch] = send;
    config.timeout = TIMEOUT_SECONDS;
    if (issuerUrl.protocol === 'http:') allowInsecureRequests(config);
    // Verifies the signature of the id token, too.
    enableNonRepudiationChecks(config);
    return config;
  }

  async function confirm(
    config: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  ): Promise<Confirmed> {
    const idClaims = tokens.claims();
    if (idClaims === undefined) throw new ProviderError('refused', 'the provider sent no id token');
    const { sub: subject } = idClaims;
    if (!SUBJECT.test(subject)) {
      throw new ProviderError('refused', 'its `sub` is not 1 to 255 printable ASCII characters');
    }
    const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
    const info = hasUserInfo ? await fetchUserInfo(config, tokens.access_token, subject) : {};
    const claims: Claims = { ...info, ...idClaims };
    return {
      subject,
      name: nameOf(claims) ?? subject,
      claims,
      refreshToken: tokens.refresh_token ?? null,
      providerSession: readId(idClaims['sid']),
    };
  }

  return {
    begin: (redirectUri) =>
      explainErrors(async () => {
        const config = await configure();
        const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
        const url = buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: scopes.join(' '),
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
        });
        return { url: url.href, checks };
      }),

    finish: (answer, { state, nonce, verifier }) =>
      explainErrors(async () => {
        const config = await configure();
        const tokens = await authorizationCodeGrant(config, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return confirm(config, tokens);
      }),

    askAgain: (refreshToken) =>
      explainErrors(async () => {
        const config = await configure();
        return confirm(config, await refreshTokenGrant(config, refreshToken));
      }),

    revoke: (refreshToken) =>
      explainErrors(async () => {
        const config = await configure();
        if (config.serverMetadata().revocation_endpoint === undefined) return;
        await tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' });
      }),

    readLogout: (token) =>
      explainErrors(async () => {
        const { jwks_uri: address } = await discover();
        if (address === undefined) throw new ProviderError('away', 'the OpenID configuration names no keys');
        if (keys?.address !== address) {
          const set = createRemoteJWKSet(new URL(address), {
            [customKeyFetch]: (url, { headers, ...options }) =>
              send(url, { ...options, headers: Object.fromEntries(headers), body: null }),
          });
          keys = { address, set };
        }
        const { payload } = await jwtVerify(token, keys.set, {
          issuer,
          audience: clientId,
          algorithms: ALGORITHMS,
          clockTolerance: SKEW_SECONDS,
          maxTokenAge: LOGOUT_MS / 1000,
          currentDate: new Date(clock()),
        });
        return readLogoutClaims(payload);
      }),
  };
}

/** Sends requests of the library through the egress guard. Redirects are not followed. */
function createFetch(
  { issuer, trust }: Pick<OperatorProvider, 'issuer' | 'trust'>,
  egress: EgressDispatcher,
): CustomFetch {
  const issuerOrigin = new URL(issuer).origin;
  return async (url, { method, headers, body, signal }) => {
    const { origin, pathname, search } = new URL(url);
    const answer = await fetchWhole(
      egress,
      {
        method: method === 'POST' ? 'POST' : 'GET',
        origin,
        path: pathname + search,
        headers,
        body: body === undefined || body === null ? null : Buffer.from(String(body)),
        // Applies to the server that the operator named. The configuration must not extend it to others.
        trust: origin === issuerOrigin ? trust : null,
      },
      { signal: signal ?? AbortSignal.timeout(TIMEOUT_SECONDS * 1000), bytesMax: BYTES_MAX },
    );
    if (!answer.ok) {
      throw new ProviderError('away', `${origin}${pathname}: ${answer.reason} (${answer.detail})`);
    }
    const { status } = answer;
    if (status >= 500 || status === 429) {
      throw new ProviderError('away', `${origin}${pathname} answered with status ${status}`);
    }
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? new Uint8Array(answer.body) : null, {
      status,
      headers: listHeaders(answer.headers),
    });
  };
}

function listHeaders(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().map((text): [string, string] => [name, text]),
  );
}

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Checks what OpenID Connect Back-Channel Logout 1.0 demands in section 2.6, beside the signature. */
function readLogoutClaims(claims: JWTPayload): Logout {
  const events: unknown = claims['events'];
  const isLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events;
  const named = readId(claims.sub);
  // Nobody signs in with another subject.
  const subject = named !== null && SUBJECT.test(named) ? named : null;
  const providerSession = readId(claims['sid']);
  const id = readId(claims.jti);
  // An id token has a nonce, and must not be taken for a logout token.
  if (!isLogout || 'nonce' in claims || id === null || (subject ?? providerSession) === null) {
    throw new ProviderError('refused', 'the token is no logout token');
  }
  return { subject, providerSession, id, acceptedForMs: LOGOUT_MS };
}

/** Null for anything but an id of a usual length. */
function readId(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= ID_LENGTH_MAX ? value : null;
}

function nameOf(claims: Claims): string | null {
  const names = ['name', 'preferred_username', 'email'].map((claim) => claims[claim]);
  const found = names.find((name) => typeof name === 'string' && name.trim() !== '');
  return typeof found === 'string' ? cleanName(cutText(found, NAME_LENGTH_MAX)) : null;
}

/** Runs the function, and rejects with a {@link ProviderError} only. */
async function explainErrors<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw explainError(error);
  }
}

/** Codes of answers with another status or type, such as those of a server in front of the provider. */
const UNFIT_ANSWERS = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);

function explainError(error: unknown): ProviderError {
  // The library wraps errors of its fetch.
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderError) return cause;
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof AuthorizationResponseError) {
    return new ProviderError('denied', `the provider answered ${cutText(error.error, 100)}`, {
      cause: error,
    });
  }
  if (error instanceof ResponseBodyError) {
    // Other errors, such as `invalid_client`, are about the settings and say nothing about the person.
    const fault = error.error === 'invalid_grant' ? 'refused' : 'away';
    return new ProviderError(fault, `the provider answered ${cutText(error.error, 100)}`, { cause: error });
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const fault = UNFIT_ANSWERS.has(code) ? 'away' : 'refused';
  return new ProviderError(fault, code === '' ? message : `${message} (${code})`, { cause: error });
}
