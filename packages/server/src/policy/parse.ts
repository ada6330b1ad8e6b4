/**
 * Reads a policy as an operator wrote it, and names all its faults at once. Nothing is guessed or mended: what can never take
 * effect, or contradicts itself, is refused, since whoever wrote it meant something else.
 */
import type { Policy } from '@erp-proxy/contract';
import { findNearestName } from '../config/nearest.ts';
import { parseBlock } from '../egress/address.ts';
import { isReadOnlyMethod } from '../odoo/methods.ts';
import { findOriginFault } from './origin-pattern.ts';

export interface PolicyFault {
  /** The member at fault, e.g. `models["res.*"][0]`; empty: the policy as a whole. */
  path: string;
  message: string;
}

type Refuse = (path: string, message: string) => void;
type Members = Record<string, unknown>;

const MEMBERS: readonly (keyof Policy)[] = [
  'instances',
  'origins',
  'dbs',
  'models',
  'read_only',
  'companies',
  'limit_max',
  'cache',
  'rate',
  'per_day',
  'concurrency',
  'cidrs',
  'cors_origins',
];
const RATE_MEMBERS = ['requests', 'seconds', 'burst'] as const;

const PATTERNS_MAX = 1000;
const PATTERN_LENGTH_MAX = 200;
const INTEGER_MAX = 2 ** 31 - 1;

const NAME_RULE = 'letters, digits, "_", "." and "-" only';

/** What is wrong with an entry of a list, beyond what holds for all; null where nothing is. */
const ENTRY_RULES = {
  instances: (text: string) => findPatternFault(text, /^[A-Za-z0-9_.*-]*$/, NAME_RULE),
  origins: (text: string) => findOriginFault(text, ['http', 'https']),
  dbs: (text: string) => findPatternFault(text, /^[A-Za-z0-9_.*-]*$/, NAME_RULE),
  cidrs: (text: string) =>
    parseBlock(text) === null
      ? 'must be an address or a network, e.g. 10.0.0.0/8 (no bits may be set behind its prefix)'
      : null,
  cors_origins: (text: string) => findOriginFault(text, 'any'),
};
const LISTS = ['instances', 'origins', 'dbs', 'cidrs', 'cors_origins'] as const;

export function parsePolicy(value: unknown): { policy: Policy } | { faults: PolicyFault[] } {
  const faults: PolicyFault[] = [];
  const refuse: Refuse = (path, message) => void faults.push({ path, message });
  if (!isObject(value)) {
    refuse(
      '',
      'a policy must be an object, e.g. {"instances": ["prod"], "models": {"res.partner": ["read"]}}',
    );
    return { faults };
  }
  if (countEntries(value) > PATTERNS_MAX) {
    refuse('', `a policy may have at most ${PATTERNS_MAX} entries in all its lists; use patterns`);
    return { faults };
  }
  checkNames(value, MEMBERS, '', refuse);
  const policy: Policy = { models: readModels(value, refuse) };
  for (const name of LISTS) {
    const list = value[name] === undefined ? null : readTexts(value[name], name, ENTRY_RULES[name], refuse);
    if (list !== null) policy[name] = list;
  }
  const companies = readCompanies(value['companies'], refuse);
  if (companies !== null) policy.companies = companies;
  for (const name of ['limit_max', 'per_day', 'concurrency'] as const) {
    const number = readCount(value, name, '', refuse);
    if (number !== null) policy[name] = number;
  }
  const rate = readRate(value['rate'], refuse);
  if (rate !== null) policy.rate = rate;
  for (const name of ['read_only', 'cache'] as const) {
    const flag = value[name];
    if (typeof flag === 'boolean') policy[name] = flag;
    else if (flag !== undefined) refuse(name, 'must be true or false');
  }
  findContradictions(value, policy, refuse);
  return faults.length > 0 ? { faults } : { policy };
}

function findContradictions(given: Members, policy: Policy, refuse: Refuse): void {
  if (given['instances'] === undefined && given['origins'] === undefined) {
    refuse(
      '',
      'names no server, so that it allows nothing: give `instances` (stored in the proxy) or `origins` (for calls with credentials of their own)',
    );
  }
  if (given['dbs'] !== undefined && given['origins'] === undefined) {
    refuse(
      'dbs',
      'holds for calls with credentials of their own, which only `origins` allows: give it, or leave `dbs` out',
    );
  }
  if (policy.read_only !== true) return;
  for (const [model, methods] of Object.entries(policy.models)) {
    for (const [index, method] of methods.entries()) {
      if (method.includes('*') || isReadOnlyMethod(method, model)) continue;
      refuse(
        `${pathOfModel(model)}[${index}]`,
        `\`${method}\` is not known to read and do nothing else, which \`read_only\` asks for: take it out, or leave \`read_only\` out`,
      );
    }
  }
}

function readModels(given: Members, refuse: Refuse): Record<string, string[]> {
  const { models } = given;
  if (!isObject(models) || Object.keys(models).length === 0) {
    refuse('models', 'must name the models and their methods, e.g. {"res.partner": ["read", "search*"]}');
    return {};
  }
  const entries = Object.entries(models).map(([model, methods]): [string, string[]] => {
    const path = pathOfModel(model);
    const fault =
      findTextFault(model) ??
      findPatternFault(model, /^[A-Za-z0-9_.*]*$/, 'letters, digits, "_" and "." only');
    if (fault !== null) refuse(path, fault);
    return [model, readTexts(methods, path, findMethodFault, refuse)];
  });
  return Object.fromEntries(entries);
}

function findMethodFault(text: string): string | null {
  if (text === 'call_method') return 'is no method: name the one that `fn_name` will';
  return findPatternFault(
    text,
    /^[A-Za-z*][A-Za-z0-9_*]*$/,
    'letters, digits and "_" only, and begins with a letter',
  );
}

function readTexts(
  value: unknown,
  path: string,
  findFault: (text: string) => string | null,
  refuse: Refuse,
): string[] {
  const texts: string[] = [];
  readList(value, path, refuse, (entry, at) => {
    const fault = typeof entry === 'string' ? (findTextFault(entry) ?? findFault(entry)) : 'must be a text';
    if (fault !== null) refuse(at, fault);
    if (typeof entry === 'string') texts.push(entry);
  });
  return texts;
}

function readCompanies(value: unknown, refuse: Refuse): number[] | null {
  if (value === undefined) return null;
  const companies: number[] = [];
  readList(value, 'companies', refuse, (entry, at) => {
    if (isCount(entry)) companies.push(entry);
    else refuse(at, "must be a company's id, a positive integer");
  });
  return companies;
}

function readList(
  value: unknown,
  path: string,
  refuse: Refuse,
  visit: (entry: unknown, path: string) => void,
): void {
  const list: unknown[] = Array.isArray(value) ? value : [];
  if (list !== value) refuse(path, 'must be a list');
  else if (list.length === 0) refuse(path, 'is empty, so that it allows nothing: fill it, or leave it out');
  const seen = new Set<unknown>();
  for (const [index, entry] of list.entries()) {
    if (seen.has(entry)) refuse(`${path}[${index}]`, 'stands there twice: take one out');
    else visit(entry, `${path}[${index}]`);
    seen.add(entry);
  }
}

function readRate(value: unknown, refuse: Refuse): Required<Policy>['rate'] | null {
  if (value === undefined) return null;
  if (!isObject(value)) {
    refuse('rate', 'must be an object, e.g. {"requests": 100, "seconds": 60}');
    return null;
  }
  checkNames(value, RATE_MEMBERS, 'rate.', refuse);
  for (const name of ['requests', 'seconds']) {
    if (value[name] === undefined) refuse(`rate.${name}`, 'is missing');
  }
  const [requests, seconds, burst] = RATE_MEMBERS.map((name) => readCount(value, name, 'rate.', refuse));
  return { requests: requests ?? 0, seconds: seconds ?? 0, ...(burst == null ? {} : { burst }) };
}

function readCount(given: Members, name: string, parent: string, refuse: Refuse): number | null {
  const value = given[name];
  if (value === undefined) return null;
  if (isCount(value)) return value;
  refuse(`${parent}${name}`, 'must be a positive integer; leave it out for no bound');
  return null;
}

function findTextFault(text: string): string | null {
  if (text === '') return 'is empty';
  return text.length > PATTERN_LENGTH_MAX ? `may have at most ${PATTERN_LENGTH_MAX} characters` : null;
}

function findPatternFault(text: string, allowed: RegExp, rule: string): string | null {
  if (/[?![\]{}]|\*\*/.test(text)) return '`*` is the only wildcard, and stands for any text';
  return allowed.test(text) ? null : `can never match: what it stands for has ${rule}`;
}

function checkNames(given: Members, known: readonly string[], parent: string, refuse: Refuse): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    refuse(
      `${parent}${name.slice(0, 64)}`,
      `is not known; did you mean \`${parent}${findNearestName(name, known)}\`?`,
    );
  }
}

/** Members and entries of all lists together; a bound on the work, and on the number of faults. */
function countEntries(given: Members): number {
  const inner = Object.values(given).filter(isObject).flatMap(Object.values);
  return [given, ...Object.values(given), ...inner].reduce<number>((sum, part) => sum + sizeOf(part), 0);
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function pathOfModel(model: string): string {
  return `models[${JSON.stringify(model.slice(0, PATTERN_LENGTH_MAX))}]`;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= INTEGER_MAX;
}
