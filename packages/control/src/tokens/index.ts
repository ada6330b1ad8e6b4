/** Tokens of identity providers. Loaded only if the settings name an issuer. */
export { createDeniedSubjects } from './denied-subjects.ts';
export { parseRules } from './parse-rules.ts';
export { createTokens, type Tokens } from './tokens.ts';
