/** Completes the schemas of the admin API with those of the proxy's own parsers: of policies, and of execute calls. */
import { adminCallInput, fieldRule, POLICIES } from '@erp-proxy/contract/admin';
import { FIELD_RULE_SCHEMA, POLICY_SCHEMA } from '@erp-proxy/policy/parse';
import { z } from 'zod';
import { executeCall } from '../openapi/call-schemas.ts';
import { named, showAs } from '../schema-registry.ts';

const policy = named('Policy', POLICY_SCHEMA);
for (const schema of POLICIES) showAs(policy, schema);
showAs(named('FieldRule', FIELD_RULE_SCHEMA), fieldRule);

/** The call is kept as its original bytes. */
export const adminCall = named(
  'AdminCall',
  adminCallInput.extend({
    call: showAs(executeCall, z.instanceof(Uint8Array, { error: 'is missing' })),
  }),
);
