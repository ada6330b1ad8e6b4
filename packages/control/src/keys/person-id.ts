/** The form of the id of a person, which is also the id of the client of their tokens. */

/** The name of an issuer, as `auth.issuers` or `operators` has it, and a printable subject. */
export const PERSON_ID = /^[a-z0-9][a-z0-9-]{0,31}\/[\x21-\x7e]{1,255}$/;

/** Names the issuer of a {@link PERSON_ID}. */
export function readIssuer(person: string): string {
  return person.slice(0, person.indexOf('/'));
}
