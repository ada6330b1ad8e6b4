/** Odoo's redirect to its login. Pure. */

/** 18 sends whoever asks for a page that it lacks to its login (FACTS 10), 16 and 17 say so (FACTS 13.2). */
export function isLoginRedirect(status: number, location: string): boolean {
  return status === 303 && /\/web\/login(\?|$)/.test(location);
}
