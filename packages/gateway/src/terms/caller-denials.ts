/** Denials about the caller's request that several steps return. */
import { type Refusal, type RefusedToken, StoredPolicyError } from '@erp-proxy/control/keys';
import { Denial, type DenialMore } from './denial.ts';
import type { Dialect } from './dialect.ts';

/**
 * The client key or token is not accepted. Only log and audit get the reason, because callers must not learn which keys
 * exist. `meanwhile`: it was accepted before.
 */
export function denyClient(found: Refusal, dialect: Dialect, when: 'now' | 'meanwhile' = 'now'): Denial {
  const suffix = when === 'now' ? '' : ' meanwhile';
  if (found.refused === 'token') return denyToken(found, dialect, suffix);
  const { refused, keyId } = found;
  const detail = keyId === null ? `key ${refused}` : `key ${refused} (${keyId})`;
  const isNamed = keyId !== null && refused !== 'missing' && refused !== 'malformed';
  return denyUnknown(dialect, refused !== 'missing', {
    detail: detail + suffix,
    ...(isNamed ? { refusedKey: { id: keyId, why: refused } } : {}),
  });
}

function denyToken(found: RefusedToken, dialect: Dialect, suffix: string): Denial {
  const { why, keyId } = found;
  const detail = `token ${why}${suffix}${keyId === null ? '' : ` (${keyId})`}: ${found.detail}`;
  if (why === 'keys_away') {
    return new Denial(
      'overloaded',
      'The keys of the identity provider cannot be read; try again in a moment.',
      {
        outcome: 'not_sent',
        retryAfterSeconds: KEYS_RETRY_AFTER_SECONDS,
        detail,
      },
    );
  }
  const more = { detail, ...(keyId === null || why === 'invalid' ? {} : { refusedKey: { id: keyId, why } }) };
  if (why === 'no_policy') {
    const message = 'The proxy has no policy for this token; ask its operator for one.';
    return new Denial('policy_denied', message, { ...more, rule: 'auth.issuers' });
  }
  if (why !== 'insufficient_scope') return denyUnknown(dialect, true, more);
  const scope = found.scopes.join(' ');
  return new Denial('policy_denied', `The token lacks a scope; get one with the scopes ${scope}.`, {
    ...more,
    rule: 'auth.issuers.scopes',
    ...challenge(dialect, `, error="insufficient_scope", scope="${scope}"`),
  });
}

const KEYS_RETRY_AFTER_SECONDS = 10;

/** `isSent`: the request has a text that could be a key or a token (RFC 6750 section 3.1). */
function denyUnknown(
  dialect: Dialect,
  isSent: boolean,
  more: Pick<DenialMore, 'detail' | 'refusedKey'>,
): Denial {
  const sent = `The client key in the header ${dialect.keyHeaders[0]}`;
  const what = dialect.challenge === null ? sent : `${sent}, or the token in authorization,`;
  return new Denial('unauthorized', `${what} is missing or not valid; send one that is.`, {
    ...more,
    ...challenge(dialect, isSent ? ', error="invalid_token"' : ''),
  });
}

function challenge({ challenge }: Dialect, error: string): Pick<DenialMore, 'headers'> {
  return challenge === null ? {} : { headers: { 'www-authenticate': challenge + error } };
}

/** For `askStore`: the stored policy of a key is not valid. */
export const UNREADABLE_POLICY = {
  ErrorClass: StoredPolicyError,
  message: 'The policy of this key cannot be read',
};

/** A method of the model was called with ids, which would become its first argument. */
export function denyIds(model: string, method: string): Denial {
  return new Denial('invalid_params', `\`${model}.${method}\` takes no records: leave \`keyword.ids\` out.`, {
    path: 'keyword.ids',
  });
}

/** `rule` is the rule of the policy that denies the call. */
export function denyPolicy({ rule, message }: { rule: string; message: string }): Denial {
  return new Denial('policy_denied', message, { rule });
}
