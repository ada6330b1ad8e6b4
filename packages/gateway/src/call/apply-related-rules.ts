/**
 * Applies the rules of a policy for related records to a call, once its server is known. The types of fields tell which
 * models the call changes through its own records.
 */

import type { Client } from '@erp-proxy/control/keys';
import type { FieldTypes, LearntTypes } from '@erp-proxy/odoo/values';
import type { CompiledPolicy } from '@erp-proxy/policy';
import type { CallContext } from '../terms/call-context.ts';
import { denyPolicy } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { FaultReply, Reply } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { explainFailure } from '../terms/upstream-denials.ts';
import type { RelatedDecision } from './check-related.ts';

/** Maximum number of models whose types are asked for. */
const MODELS_MAX = 64;

/**
 * Asks the server until the decision depends on nothing else. `approvalRule`: the rule because of which an allowed call
 * needs an approval; null: it needs none.
 */
export async function applyRelatedRules(
  check: (policy: CompiledPolicy, learnt: LearntTypes) => Promise<RelatedDecision>,
  target: Target,
  context: CallContext,
  fields: FieldFinder,
): Promise<{ reply: Reply } | { approvalRule: string | null }> {
  const { policy } = context.client;
  if (policy === null) return { approvalRule: null };
  const types = new Map<string, FieldTypes>();
  const asked = new Map<string, Set<string>>();
  for (;;) {
    const decision = await check(policy, { types, asked });
    if (decision instanceof Denial) return { reply: decision };
    const { lacking, approvalRule } = decision;
    if (lacking.size === 0) return { approvalRule };
    for (const [model, names] of lacking) {
      if (!types.has(model) && types.size === MODELS_MAX) return { reply: TOO_MANY_MODELS };
      const found = await fields.find({ target, model }, names, context);
      if ('failed' in found) return { reply: explain(found.failed, model) };
      types.set(model, found.types);
      asked.set(model, (asked.get(model) ?? new Set()).union(names));
    }
  }
}

/** Whether a call whose related records were checked for one client need not be checked again for the other. */
export function hasSameModels(one: Pick<Client, 'policy'>, other: Pick<Client, 'policy'>): boolean {
  return describeModels(one) === describeModels(other);
}

function describeModels({ policy }: Pick<Client, 'policy'>): string {
  return JSON.stringify([policy?.policy.models, policy?.policy.approve]);
}

const TOO_MANY_MODELS = denyPolicy({
  rule: 'models',
  message: `The call changes records of more than ${MODELS_MAX} models through its own. Send it in several calls.`,
});

function explain(failed: FaultReply | Denial, model: string): FaultReply | Denial {
  return explainFailure(
    failed,
    `The call has members with lists or commands. What they change depends on the fields of \`${model}\`, which could not be read. The call was not sent.`,
  );
}
