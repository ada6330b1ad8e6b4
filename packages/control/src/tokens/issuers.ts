/** Reads the setting that names issuers. Loads nothing that verifies tokens. */
export { type ClaimRule, type Claims, findRule, type Issuer, listRules, SUBJECT } from './issuer.ts';
export { parseIssuers } from './parse-issuers.ts';
