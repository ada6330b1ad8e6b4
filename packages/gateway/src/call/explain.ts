/** Explains why a key may or may not make a call, by the same parsing and the same decision as for a received call. */
import { type ExplainInput, type Explanation, KEY_LIMITS, type Policy } from '@erp-proxy/contract';
import { namesReadFields } from '@erp-proxy/odoo/fields';
import { type CompiledPolicy, decide, decideApproval, decideCaller } from '@erp-proxy/policy';
import { describeStar } from '@erp-proxy/policy/abilities';
import { decideNamedPaths, type FieldsDecision } from '@erp-proxy/policy/fields';
import type { KeyRecord } from '@erp-proxy/stores/ports';
import { Denial } from '../terms/denial.ts';
import { OWN_DIALECT } from '../terms/dialect.ts';
import { listCallFields } from './field-arguments.ts';
import { type Call, parseBody, parseCall } from './parse.ts';
import { describeCall, describeRequest } from './policy-request.ts';

export function explainCall(
  key: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>,
  policy: CompiledPolicy | null,
  { call: given, address, origin }: ExplainInput,
  now: number,
): Explanation {
  if (key.revokedAt !== null) return refuse('The key is revoked, so no call is allowed.');
  if (key.expiresAt !== null && now >= key.expiresAt)
    return refuse('The key has expired, so no call is allowed.');
  const caller = { address: address ?? null, browserOrigin: origin ?? null };
  const denied = decideCaller(policy, caller);
  if (denied) return { ...denied, approval: null, sets: {} };
  const call = readCall(given);
  if (call instanceof Denial) return refuse(call.message);
  const request = describeRequest(describeCall(call));
  if (request instanceof Denial) return refuse(request.message);
  if (policy === null) {
    const message = 'The key has no policy: it may do anything that egress allows.';
    return { allowed: true, rule: null, approval: null, message, sets: {} };
  }
  const decision = decide(policy, request);
  const meaning = describeStar(policy, request.model);
  const star = meaning === null ? {} : { star: meaning };
  if (!decision.allowed) return { ...decision, approval: null, ...star, sets: {} };
  const paths = explainPaths(policy, call);
  if (paths.kind === 'denied') {
    const { rule, message } = paths;
    return { allowed: false, rule, approval: null, message, ...star, sets: {} };
  }
  const approval = decideApproval(policy, request);
  const { lists, sets, rule, lacksTypes } = decision;
  const message = describeAllowance(policy.policy, caller.address, {
    approval,
    hasPaths: paths.lacking.types.size > 0,
    hasCommands: lacksTypes === true,
  });
  const set = lists === undefined ? sets : { ...sets, fields: lists };
  return { allowed: true, rule, approval, message, ...star, sets: set };
}

/** As apply-field-rules.ts does, as far as no types of fields are needed. */
function explainPaths(policy: CompiledPolicy, call: Call): FieldsDecision {
  const { model, method } = call;
  if (policy.fields === null && !namesReadFields(model, method))
    return { kind: 'allowed', lacking: { types: new Map(), orders: false } };
  return decideNamedPaths(policy, { model, uses: listCallFields(call, 'read') });
}

/** Names the rules that could still deny the call. */
function describeAllowance(
  policy: Policy,
  address: string | null,
  { approval, hasPaths, hasCommands }: { approval: string | null; hasPaths: boolean; hasCommands: boolean },
): string {
  const { fields, cidrs } = policy;
  const open = [
    ...(hasPaths ? ['`models` to which the fields of the call lead, which only the server knows'] : []),
    ...(hasCommands
      ? ['`models` whose records its lists and commands change or link, which only the server knows']
      : []),
    ...(fields === undefined ? [] : ['`fields` of related records, which only the server knows']),
    ...(cidrs === undefined || address !== null ? [] : ['`cidrs`, since no address is given']),
    ...KEY_LIMITS.filter((limit) => policy[limit] !== undefined).map((limit) => `\`${limit}\``),
  ];
  const rest = open.length === 0 ? '' : ` Not looked at: ${open.join('; ')}.`;
  const condition =
    approval === null
      ? ''
      : ` It runs only after an administrator has approved it, because of \`${approval}\`.`;
  return `The policy allows the call.${condition}${rest}`;
}

function refuse(message: string): Explanation {
  return { allowed: false, rule: null, approval: null, message, sets: {} };
}

function readCall(given: unknown): Call | Denial {
  // Checked first, because JSON.stringify is recursive and could overflow the stack.
  if (isDeeper(given, DEPTH_MAX))
    return new Denial('invalid_request', `The call is nested more than ${DEPTH_MAX} levels deep.`);
  // A value that JSON cannot represent is not a call either.
  const body = parseBody(Buffer.from(JSON.stringify(given) ?? 'null'));
  if (body instanceof Denial) return body;
  const [first] = body.calls;
  if (body.isBatch || first === undefined) {
    return new Denial('invalid_request', 'Explain one call at a time: take it out of the array.');
  }
  return parseCall(body.bytes, first, OWN_DIALECT).call;
}

/** The maximum depth that parseBody accepts. */
const DEPTH_MAX = 512;

/** Works level by level, without recursion. */
function isDeeper(value: unknown, depthMax: number): boolean {
  let level = [value];
  for (let depth = 0; depth < depthMax && level.length > 0; depth++) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return level.some((item) => typeof item === 'object' && item !== null);
}
