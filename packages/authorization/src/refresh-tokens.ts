/**
 * The form of refresh tokens: each names its consent, with a proof that the proxy has made it. So a token that was used
 * before is known as such without a record of it, and whoever makes up a token ends nothing.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const FORM = /^([\w-]{1,64})\.([\w-]{32})\.([\w-]{43})$/;
const NONCE_BYTES = 24;

export interface RefreshTokens {
  make(consent: string): string;
  /** The consent of a token that the proxy has made; null: it has not. */
  readConsent(token: string): string | null;
}

export function createRefreshTokens(secret: Uint8Array): RefreshTokens {
  const sign = (text: string) => createHmac('sha256', secret).update(`refresh token ${text}`).digest();
  return {
    make(consent) {
      const text = `${consent}.${randomBytes(NONCE_BYTES).toString('base64url')}`;
      return `${text}.${sign(text).toString('base64url')}`;
    },
    readConsent(token) {
      const [, consent = '', nonce = '', proof = ''] = FORM.exec(token) ?? [];
      const given = Buffer.from(proof, 'base64url');
      const right = sign(`${consent}.${nonce}`);
      return given.length === right.length && timingSafeEqual(given, right) ? consent : null;
    },
  };
}
