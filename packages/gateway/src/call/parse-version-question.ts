/** Step: parses the bytes of a version question, `{id, url}`. */

import { type BaseUrl, URL_LENGTH_MAX } from '@erp-proxy/egress/policy';
import { type JsonMember, readMembers } from '@erp-proxy/json';
import { Denial } from '../terms/denial.ts';
import { type CallSpan, NULL_ID, type ParsedCall } from '../terms/parsed-body.ts';
import type { ServerAddress } from '../terms/target.ts';
import {
  checkNames,
  describe,
  invalid,
  OBJECT_MEMBERS_MAX,
  readBaseUrl,
  readId,
  readText,
} from './read-members.ts';

/** A question for the version of a server. It names no model and no instance. */
export interface VersionQuestion {
  url: string;
  address: BaseUrl;
  model?: never;
  method?: never;
  instance?: never;
  policyLimit?: never;
}

/** A question that may be sent. It changes nothing. */
export interface PreparedVersionQuestion {
  server: ServerAddress;
  isReadOnly: true;
}

export function parseVersionQuestion(
  bytes: Uint8Array,
  { span, members: known }: CallSpan,
): ParsedCall<VersionQuestion> {
  if (span.kind !== 'object')
    return { id: NULL_ID, call: invalid('', `A question must be an object, not ${describe(span)}.`) };
  const members = known ?? readMembers(bytes, span, OBJECT_MEMBERS_MAX);
  const id = readId(bytes, members);
  if (id instanceof Denial) return { id: NULL_ID, call: id };
  return { id, call: readVersionQuestion(bytes, members) };
}

function readVersionQuestion(bytes: Uint8Array, members: JsonMember[]): VersionQuestion | Denial {
  const namesDenial = checkNames(members, '', ['id', 'url'], ['jsonrpc']);
  if (namesDenial) return namesDenial;
  const value = members.find(({ name }) => name === 'url')?.value;
  const url = readText(bytes, value, 'url', URL_LENGTH_MAX, 'the address of the Odoo server');
  if (url instanceof Denial) return url;
  const address = readBaseUrl(url);
  return address instanceof Denial ? address : { url, address };
}
