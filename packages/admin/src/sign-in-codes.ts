/**
 * Codes of sign-in links: each holds its expiry and a nonce, signed with a key derived from the admin token. So the
 * command line can create a code that a running proxy accepts. This file does not know which codes were used.
 */
import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

export interface SignInCodes {
  issue(): { code: string; expiresAt: number };
  /** Null if the code was not signed with this token. The code may have expired. */
  read(code: string): SignInCode | null;
}

export interface SignInCode {
  nonce: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

export const CODE_LIFE_MINUTES = 15;
const NONCE_BYTES = 16;
const CODE = /^((\d{1,15})\.([\w-]{22}))\.([\w-]{43})$/;

export function createSignInCodes({ token, clock }: { token: string; clock: () => number }): SignInCodes {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'erp-proxy admin sign-in code v1', 32));
  const sign = (text: string) => createHmac('sha256', key).update(text).digest();

  return {
    issue() {
      const expiresAt = clock() + CODE_LIFE_MINUTES * 60_000;
      const signed = `${expiresAt}.${randomBytes(NONCE_BYTES).toString('base64url')}`;
      return { code: `${signed}.${sign(signed).toString('base64url')}`, expiresAt };
    },
    read(code) {
      const [, signed = '', expiresAt = '', nonce = '', signature = ''] = CODE.exec(code) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const right = sign(signed);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
      return { nonce, expiresAt: Number(expiresAt) };
    },
  };
}
