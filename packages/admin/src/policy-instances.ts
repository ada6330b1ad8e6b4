/** The instances that the policy of a key reaches, for operators who are limited to some of the instances. Pure. */
import { type Policy, tryParse } from '@erp-proxy/contract';

/** The instances that a key with this policy may use. Null: it may bring its own credentials, or use every instance. */
export function listInstancesOfPolicy(policy: Policy | null): string[] | null {
  if (policy === null || (policy.origins?.length ?? 0) > 0) return null;
  return policy.instances ?? null;
}

/** The same for the stored text of a policy, which need not be a valid one. */
export function listInstancesOfPolicyText(text: string | null): string[] | null {
  const given = text === null ? null : tryParse(text);
  if (typeof given !== 'object' || given === null) return null;
  const { instances, origins } = given as Record<string, unknown>;
  const hasOrigins = origins !== undefined && !(Array.isArray(origins) && origins.length === 0);
  const areNames = Array.isArray(instances) && instances.every((name) => typeof name === 'string');
  return areNames && !hasOrigins ? instances : null;
}
