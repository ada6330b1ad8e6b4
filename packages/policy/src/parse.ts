/**
 * Reads a policy that an operator wrote, and reports all its errors at once. Refuses a policy that contradicts itself,
 * or a member that can never take effect: nothing is guessed or corrected.
 */
import { compileGlob, type InvalidMember, type Policy } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { isReadOnlyMethod } from '@erp-proxy/odoo';
import { type Members, pathOfEntry, type Report, reportUnknownNames } from './member-kinds.ts';
import { POLICY_MEMBERS } from './members.ts';
import { compilePatterns } from './pattern.ts';
import { reportMissingFields, reportUnpublishable } from './publishable.ts';

const ENTRIES_MAX = 1000;

/**
 * The path of an error names the member, e.g. `models["res.*"][0]`. It is empty for the policy as a whole. `isStored`:
 * a stored publishable policy may lack `fields`, because older versions did not require them.
 */
export function parsePolicy(
  value: unknown,
  { isStored = false } = {},
): { policy: Policy } | { errors: InvalidMember[] } {
  const errors: InvalidMember[] = [];
  const report: Report = (path, message) => void errors.push({ path, message });
  if (!isObject(value)) {
    report(
      '',
      'a policy must be an object, e.g. {"instances": ["prod"], "models": {"res.partner": ["read"]}}',
    );
    return { errors };
  }
  if (countEntries(value) > ENTRIES_MAX) {
    report('', `a policy may have at most ${ENTRIES_MAX} entries in all its lists; use patterns`);
    return { errors };
  }
  reportUnknownNames(value, Object.keys(POLICY_MEMBERS), '', report);
  const policy: Policy = { models: {} };
  for (const [name, { read, isRequired }] of Object.entries(POLICY_MEMBERS)) {
    const given = value[name];
    if (given === undefined && isRequired !== true) continue;
    const member = read(given, name, report);
    if (member !== undefined) Object.assign(policy, { [name]: member });
  }
  reportContradictions(value, policy, report);
  if (!isStored && errors.length === 0) reportMissingFields(policy, report);
  return errors.length > 0 ? { errors } : { policy };
}

function reportContradictions(given: Members, policy: Policy, report: Report): void {
  if (given['instances'] === undefined && given['origins'] === undefined) {
    report(
      '',
      'names no server, so that it allows nothing: give `instances` (stored in the proxy) or `origins` (for calls with credentials of their own)',
    );
  }
  if (given['dbs'] !== undefined && given['origins'] === undefined) {
    report(
      'dbs',
      'holds for calls with credentials of their own, which only `origins` allows: give it, or leave `dbs` out',
    );
  }
  reportForeignCompanies(policy, report);
  if (policy.publishable === true) reportUnpublishable(given, policy, report);
  if (policy.allow_unknown_methods === true && !listMethodPatterns(policy).includes('*')) {
    report(
      'allow_unknown_methods',
      'has no effect: it is about the method `*`, and no entry of `models` or `unattended` has it. Take it out',
    );
  }
  reportIdleMethods('approve', policy, report);
  reportIdleMethods('unattended', policy, report);
  if (policy.read_only !== true) return;
  for (const [model, methods] of Object.entries(policy.models)) {
    for (const [index, method] of methods.entries()) {
      if (method.includes('*') || isReadOnlyMethod(method, model)) continue;
      report(
        `${pathOfEntry('models', model)}[${index}]`,
        `\`${method}\` is not known to read and do nothing else, which \`read_only\` asks for: take it out, or leave \`read_only\` out`,
      );
    }
  }
}

function listMethodPatterns({ models, unattended = {} }: Policy): string[] {
  return [...Object.values(models), ...Object.values(unattended)].flat();
}

/** The companies that calls get by default must be allowed. */
function reportForeignCompanies({ companies, context }: Policy, report: Report): void {
  if (companies === undefined) return;
  for (const [index, id] of (context?.allowed_company_ids ?? []).entries()) {
    if (companies.includes(id)) continue;
    report(
      `context.allowed_company_ids[${index}]`,
      `is not one of \`companies\`, so that every call that gets it is denied: take ${id} out, or add it to \`companies\``,
    );
  }
}

/**
 * Reports methods that `models` does not allow: a call of such a method is denied, so that a rule about it has no
 * effect.
 */
function reportIdleMethods(member: 'approve' | 'unattended', policy: Policy, report: Report): void {
  const given = policy[member];
  if (given === undefined) return;
  const rules = Object.entries(policy.models).map(([pattern, methods]) => ({
    matches: compileGlob(pattern),
    methods: compilePatterns(methods),
  }));
  for (const [model, methods] of Object.entries(given)) {
    if (model.includes('*')) continue;
    for (const [index, method] of methods.entries()) {
      const isAllowed = rules.some((rule) => rule.matches(model) && rule.methods.find(method) !== undefined);
      if (method.includes('*') || isAllowed) continue;
      report(
        `${pathOfEntry(member, model)}[${index}]`,
        `never applies: \`models\` does not allow \`${method}\` of \`${model}\`, so that the call is denied. Allow it there, or take it out here`,
      );
    }
  }
}

/** The number of members and of entries of all lists. Bounds the work, and the number of errors. */
function countEntries(given: Members): number {
  const inner = Object.values(given).filter(isObject).flatMap(Object.values);
  const innermost = inner.filter(isObject).flatMap(Object.values);
  const parts = [given, ...Object.values(given), ...inner, ...innermost];
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 0);
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}
