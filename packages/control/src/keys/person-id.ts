/** The form of the id of a person, which is also the id of the client of their tokens. */

/**
 * The name of an issuer, as `auth.issuers` or `operators` has it, and a printable subject. For a person who signs in by
 * Odoo: `odoo:`, the name of the instance, and the id of the user.
 */
export const PERSON_ID =
  /^(?:[a-z0-9][a-z0-9-]{0,31}\/[\x21-\x7e]{1,255}|odoo:[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/\d{1,15})$/;

/** Names the issuer of a {@link PERSON_ID}. */
export function readIssuer(person: string): string {
  return person.slice(0, person.indexOf('/'));
}
