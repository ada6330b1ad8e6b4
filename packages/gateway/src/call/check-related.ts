/** Checks the related records that a call changes or links against its policy, as far as types of fields are known. */
import type { RelatedWrites } from '@erp-proxy/odoo/related';
import type { LearntTypes } from '@erp-proxy/odoo/values';
import { type CompiledPolicy, decideRelatedApproval, decideRelatedWrites } from '@erp-proxy/policy';
import { denyPolicy } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { Call } from './parse.ts';
import type { Json2Call } from './parse-json2.ts';
import { type DescribedCall, describeCall, describeJson2Call, describeRequest } from './policy-request.ts';

export type RelatedDecision = Denial | RelatedAllowance;

export interface RelatedAllowance {
  /** The fields whose types could still deny the call. */
  lacking: RelatedWrites['lacking'];
  /** The rule because of which the call needs an approval; null: it needs none, as far as types are known. */
  approvalRule: string | null;
}

export function checkRelatedCall(call: Call, policy: CompiledPolicy, learnt: LearntTypes): RelatedDecision {
  return check(describeCall(call), policy, learnt);
}

/** The same for a call of `/json/2`. */
export function checkRelatedJson2Call(
  call: Json2Call,
  policy: CompiledPolicy,
  learnt: LearntTypes,
): RelatedDecision {
  return check(describeJson2Call(call), policy, learnt);
}

function check(call: DescribedCall, policy: CompiledPolicy, learnt: LearntTypes): RelatedDecision {
  const request = describeRequest(call);
  if (request instanceof Denial) return request;
  const decision = decideRelatedWrites(policy, request, learnt);
  if (!decision.allowed) return denyPolicy(decision);
  return { lacking: decision.lacking, approvalRule: decideRelatedApproval(policy, request, learnt) };
}
