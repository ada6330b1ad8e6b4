/** Compiles policies, and decides about calls by them. */
export { type CompiledPolicy, compilePolicy } from './compile.ts';
export {
  type Decision,
  type DeniedDecision,
  decide,
  decideApproval,
  decideCaller,
  decideData,
  decideRelatedApproval,
  decideRelatedWrites,
  decideServer,
  type NamedContext,
  namesMethod,
  type PolicyRequest,
} from './decide.ts';
