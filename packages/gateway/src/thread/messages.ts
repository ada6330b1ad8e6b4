/** The messages between the main thread and the thread for large calls, and how values are prepared for them. */

import { isLarge, shareBytes, viewShared } from '@erp-proxy/async/shared-bytes';
import type { CompatibleErrorType, Policy, ProxyErrorType } from '@erp-proxy/contract';
import { type CompiledPolicy, compilePolicy } from '@erp-proxy/policy';
import { Denial, type DenialMore } from '../terms/denial.ts';

/**
 * A value without its large bytes, denials and compiled policies. These are beside the value, with their places:
 * callers and servers name some members of values, and no such name may stand for shared memory.
 */
export interface Message {
  value: unknown;
  parts: readonly PlacedPart[];
}

export type TaskRequest =
  | { name: string; args: Message }
  /** The main thread no longer has this memory. */
  | { released: MemoryId };

export type TaskReply = { value: Message } | { error: unknown };

interface PlacedPart {
  /** The names of the members that lead to it. */
  path: readonly string[];
  part: PackedDenial | PackedPolicy | PackedBytes;
}

/** A denial as a message: the class of an object does not pass to another thread. */
interface PackedDenial {
  kind: 'denial';
  type: ProxyErrorType | CompatibleErrorType;
  message: string;
  more: DenialMore;
}

/** A policy is compiled again in the other thread. */
interface PackedPolicy {
  kind: 'policy';
  policy: Policy;
}

/** Bytes in shared memory as a message. */
interface PackedBytes {
  kind: 'bytes';
  memoryId: MemoryId;
  memory: SharedArrayBuffer | null;
  start: number;
  length: number;
}

/** Bytes, denials and policies are members of members at most this deep. Other values need no preparation. */
const DEPTH_MAX = 3;

/** Names shared memory in messages. The memory itself is sent once: each copy would be another object to collect. */
export type MemoryId = string;

/** The shared memory that both threads know. */
export interface SharedMemories {
  /** `memory` is null if the other thread has it. */
  send(memory: SharedArrayBuffer): { id: MemoryId; memory: SharedArrayBuffer | null };
  receive(id: MemoryId, memory: SharedArrayBuffer | null): SharedArrayBuffer;
}

/** Prepares a value to be sent. Large bytes are put into shared memory. */
export function pack(value: unknown, memories: SharedMemories): Message {
  const parts: PlacedPart[] = [];
  const packPart = (part: unknown, path: readonly string[]) => {
    if (part instanceof Denial) {
      const { type, message, more } = part;
      parts.push({ path, part: { kind: 'denial', type, message, more } });
      return null;
    }
    if (isCompiled(part)) {
      parts.push({ path, part: { kind: 'policy', policy: part.policy } });
      return null;
    }
    if (!(part instanceof Uint8Array)) return part;
    if (isLarge(part) || part.buffer instanceof SharedArrayBuffer) {
      parts.push({ path, part: packBytes(shareBytes(part), memories) });
      return null;
    }
    // A view is sent with all of its buffer.
    return part.length === part.buffer.byteLength ? part : Uint8Array.from(part);
  };
  return { value: mapParts(value, packPart), parts };
}

function packBytes(bytes: Uint8Array, memories: SharedMemories): PackedBytes {
  const { id, memory } = memories.send(bytes.buffer as unknown as SharedArrayBuffer);
  return { kind: 'bytes', memoryId: id, memory, start: bytes.byteOffset, length: bytes.length };
}

/** Restores a value that was received. */
export function unpack({ value, parts }: Message, memories: SharedMemories): unknown {
  const placed = new Map(parts.map(({ path, part }) => [namePlace(path), part]));
  return mapParts(value, (part, path) => {
    if (part instanceof Uint8Array) return Buffer.from(part.buffer, part.byteOffset, part.length);
    const packed = part === null && placed.size > 0 ? placed.get(namePlace(path)) : undefined;
    return packed === undefined ? part : unpackPart(packed, memories);
  });
}

function namePlace(path: readonly string[]): string {
  return JSON.stringify(path);
}

function unpackPart(packed: PlacedPart['part'], memories: SharedMemories): unknown {
  if (packed.kind === 'denial') return new Denial(packed.type, packed.message, packed.more);
  if (packed.kind === 'policy') return compile(packed.policy);
  const { memoryId, memory, start, length } = packed;
  return viewShared(memories.receive(memoryId, memory), start, length);
}

/** No value of a caller or server has a function. */
function isCompiled(part: unknown): part is CompiledPolicy {
  return typeof (part as Partial<CompiledPolicy> | null)?.allowsInstance === 'function';
}

/** Policies of large calls are few, and each is used for all steps of a call. */
const COMPILED_MAX = 16;
const compiled = new Map<string, CompiledPolicy>();

function compile(policy: Policy): CompiledPolicy {
  const text = JSON.stringify(policy);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  if (compiled.size === COMPILED_MAX) compiled.clear();
  const added = compilePolicy(policy);
  compiled.set(text, added);
  return added;
}

/** Applies `map` to the value and its members. Elements of lists are looked at only if the value itself is a list. */
function mapParts(
  value: unknown,
  map: (part: unknown, path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown {
  const mapped = map(value, path);
  if (mapped !== value || path.length === DEPTH_MAX) return mapped;
  if (path.length === 0 && Array.isArray(value))
    return value.map((element, index) => mapParts(element, map, [String(index)]));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapParts(member, map, [...path, name])]),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
