/**
 * Moves the name and the domain of a `name_search` to their positions in `params`, because the domain is `args` up to
 * 18 and `domain` from 19 on (docs/odoo-facts.md#domain-by-name): one body serves every version.
 */
import {
  findValue,
  type JsonSpan,
  joinParts,
  readElements,
  readMembers,
  removeMembers,
} from '@erp-proxy/json';
import type { ArgumentSpans } from './place-ids.ts';

const METHOD = 'name_search';
const MOVED: ReadonlySet<string> = new Set(['name', 'args', 'domain']);
const NO_NAME = '""';

/** The arguments as they are unless they give the domain by name, under one name. */
export function placeDomain(method: string, given: ArgumentSpans): ArgumentSpans {
  const { bytes, params, keyword } = given;
  if (method !== METHOD || keyword.span === null) return given;
  const positional: JsonSpan[] = [];
  if (params !== null) readElements(bytes, params, (element) => positional.push(element) < 2);
  const [placedName, ...more] = positional;
  const named = findValue(keyword.members, 'name');
  // Odoo reports arguments that are given twice.
  if (more.length > 0 || (placedName !== undefined && named !== undefined)) return given;
  const domains = ['args', 'domain'].map((name) => findValue(keyword.members, name));
  const [domain, ...others] = domains.filter((value) => value !== undefined);
  if (domain === undefined || others.length > 0) return given;
  const name = placedName ?? named ?? NO_NAME;
  const rest = removeMembers(keyword.span, keyword.members, MOVED);
  const keywordLength = rest.reduce((sum, { start, end }) => sum + end - start, 0);
  const joined = joinParts(bytes, [...rest, '[', name, ',', domain, ']']);
  const span: JsonSpan = { kind: 'object', start: 0, end: keywordLength };
  return {
    bytes: joined,
    params: { kind: 'array', start: keywordLength, end: joined.length },
    keyword: { span, members: readMembers(joined, span) },
  };
}
