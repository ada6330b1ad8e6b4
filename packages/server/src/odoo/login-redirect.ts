/** Odoo's redirect to its login. Pure. */

/** 18 redirects requests for a missing page to its login; 16 and 17 answer 404 (docs/odoo-facts.md#version-pages). */
export function isLoginRedirect(status: number, location: string): boolean {
  return status === 303 && /\/web\/login(\?|$)/.test(location);
}
