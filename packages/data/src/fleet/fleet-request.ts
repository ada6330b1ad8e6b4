/** Reads the body of a request for many instances. Pure. The call stays a span of bytes: the pipeline checks it. */

import type { InstanceChoice } from '@erp-proxy/control/instances';
import { checkNames, describe, invalid, OBJECT_MEMBERS_MAX, readId, readText } from '@erp-proxy/gateway/call';
import { Denial, NULL_ID } from '@erp-proxy/gateway/terms';
import {
  findValue,
  type JsonMember,
  type JsonSpan,
  readElements,
  readInteger,
  readMembers,
} from '@erp-proxy/json';
import { findGiven, readRoot } from '../data-request.ts';

export interface FleetRequest {
  /** JSON text of the call's `id`. */
  readonly id: Uint8Array;
  readonly choice: InstanceChoice;
  /** The concurrency that the caller asks for; null: none. */
  readonly concurrency: number | null;
  /** Builds the execute call for one instance. */
  buildCall(instance: string): Uint8Array;
}

/** Each running call has its own copy of the bytes. */
const BODY_BYTES_MAX = 256 * 1024;
const MEMBERS = ['call', 'instances', 'tags', 'concurrency'];
const TEXTS_MAX = 100;
const TEXT_LENGTH_MAX = 64;
const CONCURRENCY_MAX = 1000;

/** A denial is answered with the `id` of the call. */
export function readFleetRequest(bytes: Uint8Array): FleetRequest | { id: Uint8Array; denial: Denial } {
  const root = readRoot(bytes, 'body', BODY_BYTES_MAX);
  if (root instanceof Denial) return { id: NULL_ID, denial: root };
  const members = readMembers(bytes, root, OBJECT_MEMBERS_MAX);
  const call = readCall(bytes, members);
  if (call instanceof Denial) return { id: NULL_ID, denial: call };
  const { id } = call;
  const denial = checkNames(members, '', MEMBERS, [], 'this request');
  if (denial !== undefined) return { id, denial };
  const choice = readChoice(bytes, members);
  if (choice instanceof Denial) return { id, denial: choice };
  const concurrency = readConcurrency(bytes, findValue(members, 'concurrency'));
  if (concurrency instanceof Denial) return { id, denial: concurrency };
  return { ...call, choice, concurrency };
}

function readCall(
  bytes: Uint8Array,
  members: readonly JsonMember[],
): Pick<FleetRequest, 'id' | 'buildCall'> | Denial {
  const call = findValue(members, 'call');
  const example = 'the call for each instance, e.g. {"action": "search_count", "model_id": "res.partner"}';
  if (call === undefined) return invalid('call', `\`call\` is missing: ${example}.`);
  if (call.kind !== 'object')
    return invalid('call', `\`call\` must be an object, not ${describe(call)}: ${example}.`);
  const inCall = readMembers(bytes, call, OBJECT_MEMBERS_MAX);
  if (findValue(inCall, 'erp_instance') !== undefined) {
    return invalid(
      'call.erp_instance',
      '`call` is for many instances: leave `erp_instance` out, and name them in `instances` or `tags`.',
    );
  }
  const id = readId(bytes, inCall);
  if (id instanceof Denial) return locateInCall(id);
  const head = bytes.subarray(call.start, call.end - 1);
  const separator = inCall.length === 0 ? '' : ',';
  return {
    id,
    buildCall: (instance) =>
      Buffer.concat([head, Buffer.from(`${separator}"erp_instance":${JSON.stringify({ name: instance })}}`)]),
  };
}

/** The denial of a call, with the path of the wrong member in the body of the request. */
export function locateInCall({ type, message, more }: Denial): Denial {
  const { path } = more;
  return new Denial(type, message, path === undefined ? more : { ...more, path: `call.${path}` });
}

function readChoice(bytes: Uint8Array, members: readonly JsonMember[]): InstanceChoice | Denial {
  const [instances, tags] = [findGiven({ members }, 'instances'), findGiven({ members }, 'tags')];
  if (instances !== undefined && tags !== undefined)
    return invalid('tags', 'Give `instances` or `tags`, not both.');
  if (instances !== undefined) return readTexts(bytes, instances, 'instances');
  if (tags !== undefined) return readTexts(bytes, tags, 'tags');
  return invalid(
    'instances',
    'Choose the instances: `instances` with names, in which "*" stands for any text, e.g. ["client-*"], or `tags`.',
  );
}

function readTexts(bytes: Uint8Array, list: JsonSpan, by: InstanceChoice['by']): InstanceChoice | Denial {
  const example = by === 'tags' ? 'tags, e.g. ["production"]' : 'names, e.g. ["client-*"]';
  const wrong = invalid(by, `\`${by}\` must be a list of 1 to ${TEXTS_MAX} ${example}.`);
  if (list.kind !== 'array') return wrong;
  const texts: string[] = [];
  let denial: Denial | null = null;
  readElements(bytes, list, (element) => {
    if (texts.length === TEXTS_MAX) denial = wrong;
    const text = readText(bytes, element, `${by}[${texts.length}]`, TEXT_LENGTH_MAX, example);
    if (text instanceof Denial) denial ??= text;
    else texts.push(text);
    return denial === null;
  });
  return denial ?? (texts.length === 0 ? wrong : { by, texts });
}

function readConcurrency(bytes: Uint8Array, value: JsonSpan | undefined): number | null | Denial {
  if (value === undefined || value.kind === 'null') return null;
  const count = value.kind === 'number' ? readInteger(bytes, value) : null;
  if (typeof count === 'number' && count >= 1 && count <= CONCURRENCY_MAX) return count;
  return invalid(
    'concurrency',
    `\`concurrency\` must be the number of instances to call at once, from 1 to ${CONCURRENCY_MAX}.`,
  );
}
