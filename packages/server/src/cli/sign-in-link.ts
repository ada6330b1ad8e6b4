/**
 * Creates the link that signs an administrator in to the console, once. Sends nothing, because the link is signed with
 * the admin token.
 */
import { CODE_LIFE_MINUTES, createSignInCodes } from '@erp-proxy/admin/sign-in-codes';
import type { Settings } from '../config/schema.ts';
import { makeLocalUrl } from './proxy-access.ts';

/** `base` is the address of the proxy. The code is after the `#`, which browsers do not send, so it reaches no log. */
export function makeSignInLink(token: string, base: string): { url: string; expiresAt: number } {
  const { code, expiresAt } = createSignInCodes({ token, clock: Date.now }).issue();
  return { url: `${base.replace(/\/+$/, '')}/sign-in#code=${code}`, expiresAt };
}

/** The address at which browsers reach a proxy that listens at `listening`. */
export function chooseBaseUrl({ http }: Settings, listening: string): string {
  if (http.publicUrl !== null) return http.publicUrl;
  const { hostname, port } = new URL(listening);
  // `port` is empty for the default port of the scheme.
  return makeLocalUrl(hostname.replace(/^\[|\]$/g, ''), port || 80);
}

/** Says what the link does, and prints it on a line of its own. */
export function describeLink(url: string): string {
  return `Open this link to sign in to the console. It works once, within ${CODE_LIFE_MINUTES} minutes:\n\n  ${url}\n`;
}
