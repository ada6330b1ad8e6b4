/** Recognises Odoo's redirect to its login page. A pure function. */

/**
 * 18 redirects requests for a missing page to the login page; 16 and 17 answer 404 (docs/odoo-facts.md#version-pages).
 */
export function isLoginRedirect(status: number, location: string): boolean {
  return status === 303 && /\/web\/login(\?|$)/.test(location);
}
