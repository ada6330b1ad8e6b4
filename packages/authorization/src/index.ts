/** The authorization server. Loaded only if a setting of `signIn` asks for it. */
export { createAuthorization } from './authorization.ts';
