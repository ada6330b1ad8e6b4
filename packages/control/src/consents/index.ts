/** Consents of persons to applications, and the keys that sign the tokens of applications. */
export {
  CONSENTS_OF_PERSON_MAX,
  type Consent,
  type ConsentRecord,
  type Consents,
  createConsents,
} from './consents.ts';
export { createSigningKeys, SIGNING_ALGORITHM, type SigningKey, type SigningKeys } from './signing-keys.ts';
