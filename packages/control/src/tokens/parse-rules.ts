/**
 * Parses rules that grant something by a claim, as an operator wrote them: policies of tokens, and roles of persons.
 * Reports all errors, each with its path. A rule that can never apply is an error.
 */
import { compileGlob } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { type Members, type Report, reportUnknownNames } from '@erp-proxy/policy/parse';
import type { ClaimRule, ClaimValue } from './issuer.ts';

const RULES_MAX = 200;
const PATH_STEPS_MAX = 8;
const CONDITION_MEMBERS = ['claim', 'value', 'pattern'];

export interface RuleKind<Grant> {
  /** Path of the list, for errors. */
  path: string;
  /** A rule as JSON, for errors. */
  example: string;
  /** Names of the members that say what the rule grants. */
  members: readonly string[];
  /** Reads these members; null if they are wrong. */
  readGrant: (rule: Members, path: string) => Grant | null;
  report: Report;
}

export function parseRules<Grant>(given: unknown, kind: RuleKind<Grant>): (ClaimRule & Grant)[] {
  const { path, example, report } = kind;
  if (!Array.isArray(given) || given.length === 0) {
    report(path, `must list at least one rule, e.g. [${example}]`);
    return [];
  }
  if (given.length > RULES_MAX) report(path, `may have at most ${RULES_MAX} entries`);
  const rules: (ClaimRule & Grant)[] = [];
  for (const [index, entry] of given.entries()) {
    const at = `${path}[${index}]`;
    if (rules.at(-1)?.claim === null) {
      report(
        at,
        'never applies: the rule before it has no `claim` and matches every token; move that to the end',
      );
      break;
    }
    const rule = readRule(entry, at, kind);
    if (rule !== null) rules.push(rule);
  }
  return rules;
}

function readRule<Grant>(
  given: unknown,
  path: string,
  { example, members, readGrant, report }: RuleKind<Grant>,
): (ClaimRule & Grant) | null {
  if (!isObject(given)) {
    report(path, `must be an object, e.g. ${example}`);
    return null;
  }
  reportUnknownNames(given, [...CONDITION_MEMBERS, ...members], `${path}.`, report);
  const claim = readClaimPath(given['claim'], `${path}.claim`, report);
  const isMatch = readCondition(given, path, report);
  const grant = readGrant(given, path);
  return grant === null || claim === undefined ? null : { claim, isMatch, ...grant };
}

/** Null: the rule has no claim. Undefined: the claim is invalid. */
function readClaimPath(given: unknown, path: string, report: Report): string[] | null | undefined {
  if (given === undefined) return null;
  const steps = typeof given === 'string' ? [given] : given;
  const isPath =
    Array.isArray(steps) &&
    steps.length > 0 &&
    steps.length <= PATH_STEPS_MAX &&
    steps.every((step) => typeof step === 'string' && step !== '');
  if (isPath) return steps;
  report(
    path,
    'must be the name of a claim, or a list of names that leads to it, e.g. ["realm_access", "roles"]',
  );
  return undefined;
}

function readCondition(given: Members, path: string, report: Report): ClaimRule['isMatch'] {
  const { claim, value, pattern } = given;
  const conditions = [value, pattern].filter((condition) => condition !== undefined);
  if (claim === undefined) {
    if (conditions.length > 0) report(path, 'has a condition without a `claim`: name the claim');
    return () => true;
  }
  if (conditions.length !== 1) report(path, 'must have either `value` or `pattern` beside `claim`');
  if (value !== undefined) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      report(`${path}.value`, 'must be a text, a number, true or false');
    }
    return (found: ClaimValue) => found === value;
  }
  if (pattern === undefined) return () => false;
  if (typeof pattern !== 'string' || pattern === '') {
    report(`${path}.pattern`, 'must be a text in which `*` stands for any text');
    return () => false;
  }
  const isGlobMatch = compileGlob(pattern);
  return (found: ClaimValue) => typeof found === 'string' && isGlobMatch(found);
}
