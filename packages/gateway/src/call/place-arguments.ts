/** Moves arguments that a call gives by name to their positions in `params`. */
import {
  type ByteRange,
  findValue,
  isEmptyArray,
  type JsonSpan,
  joinParts,
  readElements,
  readMembers,
  removeMembers,
} from '@erp-proxy/json';
import { findSignature } from '@erp-proxy/odoo/signatures';
import { denyIds } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { NamedRecords } from '../terms/method-call.ts';
import { describe, type KeywordSpan } from './read-members.ts';

/** Where the arguments of a call are in its bytes. */
export interface ArgumentSpans {
  bytes: Uint8Array;
  params: JsonSpan | null;
  keyword: KeywordSpan;
}

export interface PlacedSpans extends ArgumentSpans {
  records: NamedRecords;
}

/** Methods with a parameter `ids` of their own in some version from 14 to 18. For them it is an ordinary argument. */
const METHODS_WITH_IDS: ReadonlySet<string> = new Set(['browse', 'invalidate_cache']);
const IDS: ReadonlySet<string> = new Set(['ids']);

/**
 * Moves the records of `keyword.ids` to the first position of `params`, where `execute_kw` expects them. After this,
 * the call equals one that sent its ids by position: for policies, limits, shared reads and both protocols.
 */
export function placeIds(
  model: string,
  method: string,
  { bytes, params, keyword }: ArgumentSpans,
): PlacedSpans | Denial {
  const ids = findValue(keyword.members, 'ids');
  if (ids === undefined || keyword.span === null || METHODS_WITH_IDS.has(method))
    return { bytes, params, keyword, records: 'unsaid' };
  const rest = removeMembers(keyword.span, keyword.members, IDS);
  if (ids.kind === 'null')
    return { ...rewrite(bytes, rest, params === null ? [] : [params]), records: 'none' };
  if (ids.kind !== 'array' && ids.kind !== 'number') {
    return new Denial(
      'invalid_params',
      `\`keyword.ids\` must be an id, a list of ids, or null where the method takes no records, not ${describe(ids)}.`,
      { path: 'keyword.ids' },
    );
  }
  if (params !== null && !isEmptyArray(bytes, params)) {
    return new Denial(
      'invalid_params',
      '`keyword.ids` names the records, so that `params` must be empty: give the other arguments by name in `keyword`, or leave `ids` out and put the records first in `params`.',
      { path: 'keyword.ids' },
    );
  }
  const signature = findSignature(model, method);
  if (signature?.kind === 'model' && !signature.isPrivate) return denyIds(model, method);
  return { ...rewrite(bytes, rest, ['[', ids, ']']), records: 'given' };
}

/** Builds new bytes, in which `keyword` comes before `params`. All values keep their bytes. */
function rewrite(
  bytes: Uint8Array,
  keyword: readonly ByteRange[],
  params: readonly (ByteRange | string)[],
): ArgumentSpans {
  const keywordLength = keyword.reduce((sum, { start, end }) => sum + end - start, 0);
  const joined = joinParts(bytes, [...keyword, ...params]);
  const span: JsonSpan = { kind: 'object', start: 0, end: keywordLength };
  return {
    bytes: joined,
    params: params.length === 0 ? null : { kind: 'array', start: keywordLength, end: joined.length },
    keyword: { span, members: readMembers(joined, span) },
  };
}

const NAME_SEARCH = 'name_search';
const MOVED: ReadonlySet<string> = new Set(['name', 'args', 'domain']);
const NO_NAME = '""';

/**
 * Moves the name and the domain of a `name_search` to their positions in `params`, because the domain is `args` up to
 * 18 and `domain` from 19 on (docs/odoo-facts.md#domain-by-name): one body serves every version. Returns the
 * arguments as they are unless they give the domain by name, under one name.
 */
export function placeDomain(method: string, given: ArgumentSpans): ArgumentSpans {
  const { bytes, params, keyword } = given;
  if (method !== NAME_SEARCH || keyword.span === null) return given;
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
  return rewrite(bytes, removeMembers(keyword.span, keyword.members, MOVED), ['[', name, ',', domain, ']']);
}
