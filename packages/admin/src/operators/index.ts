/** Persons who sign in to the console by an identity provider. */
export { findRuleForKnown } from './known-claims.ts';
export {
  type ConfirmedPerson,
  createOperators,
  type OperatorSession,
  type Operators,
  type ReturnTo,
  SIGN_IN_MS,
  type SignInFault,
  type WaitingProgram,
} from './operators.ts';
export { type OperatorProvider, parseOperators } from './parse-operators.ts';
export { ProviderError } from './provider-error.ts';
export { createTokenLimits } from './token-limits.ts';
