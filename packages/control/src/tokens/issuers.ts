/** Reads the setting that names issuers. Loads nothing that verifies tokens. */
export {
  type ClaimRule,
  type Claims,
  findRule,
  type Issuer,
  listRules,
  readClaim,
  SUBJECT,
} from './issuer.ts';
export type { OwnClaims, OwnIssuer } from './own-issuer.ts';
export { parseIssuers } from './parse-issuers.ts';
export { nameOdooProvider, parseSignIn, type SignIn } from './parse-sign-in.ts';
