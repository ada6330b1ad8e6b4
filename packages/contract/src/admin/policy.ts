/** Policies in the admin API: drafts, and the decisions of policies about calls. */
import { z } from 'zod';
import type { FieldRule, Policy } from '../policy.ts';
import { named, time } from './schema-names.ts';

/** The proxy parses policies by its own parser, which reports all errors at once (packages/policy). */
export const policy = z.custom<Policy>((given) => typeof given === 'object' && given !== null);
export const givenPolicy = z.custom<Policy>(() => true);
const draft = z.custom<Policy>((given) => given !== undefined, 'is missing');
export const fieldRule = z.custom<FieldRule>(() => true);
/** All schemas that stand for a policy. */
export const POLICIES: readonly z.ZodType[] = [policy, givenPolicy, draft];

/** A draft is required: null stands for no policy. */
const draftPolicy = draft.nullable().describe('The draft. Null: no policy.');

const EXPLAIN_INPUT = {
  call: z
    .unknown()
    .refine((call): boolean => call !== undefined, 'is missing')
    .describe('The body of an execute call.'),
  address: z.string().describe('Address of the caller; not checked if left out.').exactOptional(),
  origin: z
    .string()
    .describe("The browser's `origin` header. If left out, the caller is not a browser.")
    .exactOptional(),
};

export const explainInput = named('ExplainInput', z.strictObject(EXPLAIN_INPUT));
export type ExplainInput = z.infer<typeof explainInput>;

export const policyExplainInput = named(
  'PolicyExplainInput',
  z.strictObject({ policy: draftPolicy, ...EXPLAIN_INPUT }),
);
export type PolicyExplainInput = z.infer<typeof policyExplainInput>;

const star = z
  .object({
    methods: z.array(z.string()),
    left_out: z.array(
      z.object({
        method: z.string(),
        reason: z.string().describe('The end of a sentence that begins with the method.'),
      }),
    ),
  })
  .describe(
    'What the method `*` of the policy stands for on the model of the call, as far as the model has these methods. `left_out`: those that a policy must name, with the reason.',
  );
export type StarMeaning = z.infer<typeof star>;

/** Explains why a key may or may not make a call. */
export const explanation = named(
  'Explanation',
  z.object({
    allowed: z.boolean(),
    rule: z
      .string()
      .nullable()
      .describe('The rule that decided, such as `models["sale.*"]`; null for a key without a policy.'),
    approval: z
      .string()
      .nullable()
      .describe('The rule because of which the call needs an approval; null: it needs none.'),
    message: z.string(),
    star: star.exactOptional(),
    sets: z
      .object({
        limit: z.int().exactOptional(),
        allowed_company_ids: z.array(z.int()).exactOptional(),
        lang: z.string().exactOptional(),
        tz: z.string().exactOptional(),
        fields: fieldRule.exactOptional(),
      })
      .describe(
        'The values that the policy sets in the call. `fields`: of a call that names none, the patterns of the fields that are named, or of those that are left out.',
      ),
  }),
);
export type Explanation = z.infer<typeof explanation>;

/** The input to check the audit's calls against a draft of a policy. */
export const policyCompareInput = named(
  'PolicyCompareInput',
  z.strictObject({
    policy: draftPolicy,
    client_id: z.string().describe('Only calls with any key of this client.').exactOptional(),
    key_id: z.string().describe('Only calls with this key.').exactOptional(),
    since: time.describe('A time or a day. Default: one day ago.').exactOptional(),
  }),
);
export type PolicyCompareInput = z.infer<typeof policyCompareInput>;

const comparedCalls = z.object({
  instance: z.string().nullable().describe('Null: the calls had their own credentials.'),
  upstream: z.string().nullable().describe('Null for calls that name a stored instance.'),
  model: z.string(),
  action: z.string(),
  calls: z.int(),
  denied_then: z.int().describe('How many the policy of their key denied when they were made.'),
  denied: z.boolean(),
  rule: z.string().nullable().describe('The rule that denies them; null: none does.'),
  message: z.string().nullable().describe('Why they are denied; null: they are not.'),
  approval: z.string().nullable().describe('The rule because of which they need an approval.'),
  examples: z.array(z.string()).describe('Up to three values of `x-request-id`, the newest first.'),
});
/** A group of calls of one method that a policy treats alike. */
export type ComparedCalls = z.infer<typeof comparedCalls>;

const uncheckedRule = z.object({
  rule: z.string().describe('Member of the policy, or name of a rule.'),
  reason: z.string(),
});
export type UncheckedRule = z.infer<typeof uncheckedRule>;

export const policyComparison = named(
  'PolicyComparison',
  z.object({
    since: time,
    until: time,
    is_cut: z.boolean().describe('True: earlier calls of the given time were too many to evaluate them.'),
    calls: z.int().describe('Number of calls that were evaluated.'),
    denied: z.int().describe('Number of calls that the policy denies.'),
    groups: z.array(comparedCalls).describe('First those that the policy denies, then the most frequent.'),
    unlisted: z.int().describe('Calls of further groups.'),
    unchecked: z.array(uncheckedRule).describe('Rules that were not applied, or only in part.'),
  }),
);
export type PolicyComparison = z.infer<typeof policyComparison>;

const method = z.object({
  action: z.string(),
  model: z.string().nullable().describe('The only model with these parameters; null: any model.'),
  kind: z
    .enum(['read', 'write', 'delete', 'unknown'])
    .describe('What it does to records. `unknown`: code of its model decides.'),
  params: z
    .array(z.object({ name: z.string(), required: z.literal(true).exactOptional() }))
    .describe('The positional arguments, in their order.'),
});
export type MethodView = z.infer<typeof method>;

/** The methods of Odoo whose parameters the proxy knows. */
export const methodsView = named('Methods', z.object({ methods: z.array(method) }));
export type MethodsView = z.infer<typeof methodsView>;

const actingKey = z
  .string()
  .describe('The client key whose policy and limits hold. If left out, no policy restricts the call.')
  .exactOptional();

/** A document for an administrator. */
export const adminDocumentInput = z.strictObject({
  document: z.unknown().describe('The body of a request for a document.'),
  key_id: actingKey,
});

/** A call by an administrator. */
export const adminCallInput = z.strictObject({
  call: z.unknown().describe('The body of an execute call.'),
  key_id: actingKey,
  values: z
    .literal('normalized')
    .describe('Values of fields are converted, as by `prefer: values=normalized`.')
    .exactOptional(),
});
