/** Fuzzes policies: one that is accepted is stored as it is read, and allows nothing that it does not name. */
import { isDeepStrictEqual } from 'node:util';
import { findUnknown, isReadOnlyMethod } from '@erp-proxy/odoo';
import { NO_FIELD_USES } from '@erp-proxy/odoo/fields';
import { NO_RELATED_WRITES } from '@erp-proxy/odoo/related';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import type { FuzzTarget } from '../../wire/test/fuzz/fuzz.ts';
import { compilePolicy } from '../src/compile.ts';
import { type Decision, decide } from '../src/decide.ts';
import { POLICY_MEMBERS } from '../src/members.ts';
import { parsePolicy } from '../src/parse.ts';

const POLICIES: FuzzTarget = {
  name: 'policy',
  // Lines: model, method, instance, and the rest is the policy.
  seeds: [
    'res.partner\nread\nprod\n{"instances":["prod"],"models":{"res.partner":["read","search*"]}}',
    'sale.order\naction_confirm\nprod-1\n{"instances":["prod*"],"models":{"sale.*":["*"]},"fields":{"sale.*":{"deny":["note"]}}}',
    'res.partner\nread\nprod\n{"origins":["https://*.odoo.com"],"dbs":["a*"],"models":{"*":["*"]},"read_only":true}',
  ],
  words: [
    ...'{}[],:"*.\n',
    '{"instances":["*"],"models":{"*":["*"]}}',
    '"models":{',
    '"approve":{',
    '"unattended":{',
    '"fields":{',
    '{"allow":["*"]}',
    '{"deny":["vat"]}',
    '"read_only":true',
    '"allow_unknown_methods":true',
    '"publishable":true',
    '"limit_max":5',
    '"companies":[1]',
    '"context":{"lang":"fr_FR"}',
    '"cidrs":["10.0.0.0/8"]',
    '"instances":["prod"]',
    '["*"]',
    'res.partner',
    'crm.lead',
    'res.users',
    'read',
    'write',
    'unlink',
    'find_or_create_record',
    '__proto__',
    'constructor',
    'null',
    '1e9',
  ],
  run(input) {
    const [model = '', method = '', instance = '', ...rest] = input.toString('utf8').split('\n');
    let value: unknown;
    try {
      value = JSON.parse(rest.join('\n'));
    } catch {
      return ['no JSON'];
    }
    const parsed = parsePolicy(value);
    if ('errors' in parsed) {
      if (parsed.errors.length === 0) throw new Error('refused without an error');
      return parsed.errors.map(({ path }) => {
        const member = path.replace(/[[.].*/, '');
        return member in POLICY_MEMBERS ? `error in ${member}` : 'error';
      });
    }
    const { policy } = parsed;
    const again = parsePolicy(JSON.parse(JSON.stringify(policy)));
    if (!isDeepStrictEqual(again, parsed)) throw new Error('reads its own result differently');
    const decision = decide(compilePolicy(policy), {
      server: { instance },
      model,
      method,
      isReadOnly: isReadOnlyMethod(method, model),
      sensitivity: findSensitivity(model, method),
      findRelatedRead: () => null,
      listReadEffects: () => [],
      findRelatedWrites: () => NO_RELATED_WRITES,
      listEquivalents: () => [],
      listFieldUses: () => NO_FIELD_USES,
      countRecords: () => null,
      readContext: () => ({ allowed: null, others: [], names: [], leftOut: [] }),
    });
    if (decision.allowed) expectNamed(policy, { model, method, instance });
    return [describe(decision)];
  },
};

/** Fails unless the policy names the instance, the model and the method, by plain rules of this test. */
function expectNamed(
  policy: {
    instances?: string[];
    models: Record<string, string[]>;
    read_only?: boolean;
    allow_unknown_methods?: boolean;
  },
  { model, method, instance }: { model: string; method: string; instance: string },
): void {
  if (!policy.instances?.some((pattern) => matches(pattern, instance)))
    throw new Error('allows another instance');
  const patterns = Object.entries(policy.models).flatMap(([name, methods]) =>
    matches(name, model) ? methods : [],
  );
  const isNamed = patterns.some((pattern) => pattern !== '*' && matches(pattern, method));
  const isKnown = findUnknown(model, method) === null || policy.allow_unknown_methods === true;
  const isCovered = patterns.includes('*') && isKnown && findSensitivity(model, method) === null;
  if (!isNamed && !isCovered) throw new Error('allows a method that the policy does not name');
  if (policy.read_only === true && !isReadOnlyMethod(method, model)) throw new Error('a reading key writes');
}

function matches(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  if (parts.length === 0) return pattern === text;
  const last = parts.pop() as string;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

function describe(decision: Decision): string {
  if (!decision.allowed) return `denied by ${decision.rule.replace(/\[.*/, '')}`;
  return `allowed, ${Object.keys(decision.sets).join()}`;
}

export const POLICY_TARGETS: readonly FuzzTarget[] = [POLICIES];
