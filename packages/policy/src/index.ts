/** Compiles policies, and uses them to decide about calls. */
export { type CompiledPolicy, compilePolicy } from './compile.ts';
export {
  type Decision,
  type DeniedDecision,
  decide,
  decideApproval,
  decideCaller,
  decideData,
  decideFleet,
  decideRelatedApproval,
  decideRelatedWrites,
  decideServer,
  type NamedContext,
  namesMethod,
  type PolicyRequest,
} from './decide.ts';
