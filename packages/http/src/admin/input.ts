/**
 * Validates the input of an administrator against its schema. Reports up to 100 faults at once, without quoting values.
 */

import { createAdminError, createInputError } from '@erp-proxy/admin/errors';
import { cutText, type InvalidMember, readVersionTag, type VersionTag } from '@erp-proxy/contract';
import { Denial } from '@erp-proxy/gateway/terms';
import { DuplicateMemberError, findDuplicate, readDocument, readValue } from '@erp-proxy/json';
import { findNearestName } from '@erp-proxy/text';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readNodeBody } from '../node-body.ts';
import type { AdminRoute } from './table.ts';

/** Enough for a policy with a thousand patterns, or for certificates. */
const BODY_BYTES_MAX = 256 * 1024;
/** Limit for routes that need no token, to which anybody can send a body. */
const OPEN_BODY_BYTES_MAX = 16 * 1024;
/** Maximum faults in one answer, so that its cost does not grow with the body. */
const FAULTS_MAX = 100;
const NAME_LENGTH_MAX = 200;

export function readInput<Input>(schema: z.ZodType<Input>, given: unknown): Input {
  const result = schema.safeParse(given, { error: explainIssue });
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, FAULTS_MAX);
  throw createInputError(issues.flatMap((issue) => describeIssue(issue, schema)).slice(0, FAULTS_MAX));
}

/**
 * The body as JSON, or the fields of a form; undefined if there is none. In an object, the member `rawMember` is
 * returned as its original bytes.
 */
export async function readAdminBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { rawMember, isForm, isOpen }: Pick<AdminRoute, 'rawMember' | 'isForm' | 'isOpen'>,
): Promise<unknown> {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0)
    return undefined;
  const body = await readNodeBody(request.raw, reply.raw, {
    bytesMax: isOpen === true ? OPEN_BODY_BYTES_MAX : BODY_BYTES_MAX,
    takeRoom: async () => true,
    signal: new AbortController().signal,
    ...(isForm ? { kind: 'bytes' as const } : {}),
  });
  if (body instanceof Denial) throw createAdminError(STATUSES[body.type] ?? 400, body.message);
  if (isForm) return Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()));
  try {
    return rawMember === undefined ? readValue(body) : readAround(rawMember, body);
  } catch (error) {
    if (!(error instanceof DuplicateMemberError))
      throw createAdminError(400, 'The body is not JSON in UTF-8.');
    throw createInputError([{ path: error.path, message: 'occurs twice: keep one' }]);
  }
}

/** The members of an object, with `rawMember` as bytes. Any other JSON is returned as parsed. */
function readAround(rawMember: string, bytes: Uint8Array): unknown {
  const { root, members } = readDocument(bytes);
  if (root.kind !== 'object' || members === null) return readValue(bytes);
  const twice = findDuplicate(members);
  if (twice !== null) throw new DuplicateMemberError(twice.name);
  return Object.fromEntries(
    members.map(({ name, value: { start, end } }) => {
      const value = bytes.subarray(start, end);
      return [name, name === rawMember ? value : readValue(value)];
    }),
  );
}

const STATUSES: { [type in Denial['type']]?: 413 | 415 } = {
  payload_too_large: 413,
  unsupported_media_type: 415,
};

/** The tag in `if-match`; undefined if any version matches. */
export function readIfMatch(header: string | undefined): VersionTag | undefined {
  if (header === undefined || header === '*') return undefined;
  const tag = readVersionTag(header);
  if (tag === null)
    throw createAdminError(400, '`if-match` takes one unchanged `etag` of an answer, or `*`.');
  return tag;
}

function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodType): InvalidMember[] {
  const path = issue.path.join('.') || 'body';
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return issue.keys
    .slice(0, FAULTS_MAX)
    .map((name) => ({ path: cutText(name, NAME_LENGTH_MAX), message: explainUnknown(name, known) }));
}

function explainUnknown(name: string, known: readonly string[]): string {
  return known.length === 0
    ? 'is not known here'
    : `is not known; did you mean \`${findNearestName(name, known)}\`?`;
}

const NAMES: Record<string, string> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
};

/** The text for an issue; undefined to use zod's own text. */
function explainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `must be ${MEASURES[issue.origin] ?? ''} ${issue.minimum} or more`.replace('  ', ' ');
    case 'too_big':
      return `must be ${MEASURES[issue.origin] ?? ''} ${issue.maximum} or less`.replace('  ', ' ');
    case 'unrecognized_keys':
      return undefined;
    default:
      return 'does not have the expected format';
  }
}

/** What `minimum` and `maximum` measure, for types other than numbers. */
const MEASURES: Record<string, string> = { string: 'a text of length', array: 'a list of length' };
