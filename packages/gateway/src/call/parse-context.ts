/**
 * Checks `keyword.context` by the rules of docs/execute.md#context. Part of the step `parse`. All members that are sent
 * keep their bytes.
 */
import { cutText } from '@erp-proxy/contract';
import {
  type ByteRange,
  decodeString,
  findDuplicate,
  isEmptyArray,
  type JsonMember,
  type JsonSpan,
  readElements,
  readInteger,
  readMembers,
  removeMembers,
} from '@erp-proxy/json';
import { isLeftOut } from '@erp-proxy/odoo';
import { isTimeZone } from '@erp-proxy/odoo/times';
import { Denial } from '../terms/denial.ts';

/** Far more than any real context has. A body could have millions of members, and each takes memory. */
const MEMBERS_MAX = 1000;

/**
 * For Odoo, null and false are a default value like any other: the new record would have no company. Null and false of
 * the other members mean the same to Odoo as none.
 */
const TAKEN_BY_ODOO = new Set(['default_company_id']);

/**
 * Checks the context of a call. A denial names the wrong member. Parts for joinParts: what to send in its place. If
 * undefined, it is sent as it is.
 */
export function readContext(bytes: Uint8Array, context: JsonSpan): Denial | ByteRange[] | undefined {
  if (isLeftOut(context) || isEmptyArray(bytes, context)) return undefined;
  if (context.kind !== 'object') {
    return invalid('keyword.context', 'must be an object, e.g. {"allowed_company_ids": [1]}');
  }
  const members = readMembers(bytes, context, MEMBERS_MAX + 1);
  if (members.length > MEMBERS_MAX) return invalid('keyword.context', `may have at most ${MEMBERS_MAX} keys`);
  const duplicate = findDuplicate(members);
  if (duplicate) {
    const path = `keyword.context.${cutText(duplicate.name, 64)}`;
    return new Denial('invalid_request', `\`${path}\` appears twice; send it once.`, { path });
  }
  let isChanged = false;
  for (const member of members) {
    if (isLeftOut(member.value)) {
      isChanged ||= TAKEN_BY_ODOO.has(member.name);
      continue;
    }
    const fault = checkMember(bytes, member);
    if (fault) return fault;
  }
  return isChanged ? removeMembers(context, members, TAKEN_BY_ODOO) : undefined;
}

function checkMember(bytes: Uint8Array, { name, value }: JsonMember): Denial | undefined {
  const path = `keyword.context.${name}`;
  switch (name) {
    case 'allowed_company_ids':
      return isListOfIntegers(bytes, value)
        ? undefined
        : invalid(path, "must be a list of companies' ids, e.g. [1, 2]");
    case 'default_company_id':
      return isInteger(bytes, value) ? undefined : invalid(path, "must be a company's id, an integer");
    case 'tz':
      // For an unknown time zone, Odoo would silently use UTC.
      return value.kind === 'string' && isTimeZone(decodeString(bytes, value))
        ? undefined
        : invalid(path, 'must be the name of a time zone, e.g. "Europe/Paris"');
    default:
      return undefined;
  }
}

function isInteger(bytes: Uint8Array, value: JsonSpan): boolean {
  return value.kind === 'number' && readInteger(bytes, value) !== null;
}

function isListOfIntegers(bytes: Uint8Array, value: JsonSpan): boolean {
  if (value.kind !== 'array') return false;
  let isGood = true;
  readElements(bytes, value, (element) => {
    isGood = isInteger(bytes, element);
    return isGood;
  });
  return isGood;
}

function invalid(path: string, rule: string): Denial {
  return new Denial('invalid_params', `\`${path}\` ${rule}.`, { path });
}
