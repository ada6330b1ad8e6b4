/** Tests the form of refresh tokens. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createRefreshTokens } from './refresh-tokens.ts';

test('knows the consent of its own tokens, and of no other text', () => {
  const secret = randomBytes(32);
  const tokens = createRefreshTokens(secret);
  const token = tokens.make('consent-1');
  expect(token).not.toBe(tokens.make('consent-1'));
  expect(createRefreshTokens(secret).readConsent(token)).toBe('consent-1');
  expect(createRefreshTokens(randomBytes(32)).readConsent(token)).toBeNull();
  const [consent = '', nonce = '', proof = ''] = token.split('.');
  for (const other of [
    '',
    'consent-1',
    `consent-2.${nonce}.${proof}`,
    `${consent}.${proof.slice(0, nonce.length)}.${proof}`,
    `${consent}.${nonce}.${proof.slice(1)}`,
    `${token}.x`,
  ])
    expect(tokens.readConsent(other)).toBeNull();
});
