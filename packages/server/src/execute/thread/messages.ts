/** The messages between the main thread and the thread for large calls, and how values are prepared for them. */
import type { CompatibleErrorType, ProxyErrorType } from '@erp-proxy/contract';
import { isLarge, shareBytes, viewShared } from '../../threads/shared-bytes.ts';
import { Denial, type DenialMore } from '../terms/denial.ts';

export type TaskRequest =
  | { name: string; args: readonly unknown[] }
  /** The main thread no longer has this memory. */
  | { released: MemoryId };

export type TaskReply = { value: unknown } | { error: unknown };

/** A denial as a message: the class of an object does not pass to another thread. */
class PackedDenial {
  readonly denialType: ProxyErrorType | CompatibleErrorType;
  readonly message: string;
  readonly more: DenialMore;

  constructor({ type, message, more }: Denial) {
    this.denialType = type;
    this.message = message;
    this.more = more;
  }
}

/** Bytes and denials are members of members at most this deep. Other values need no preparation. */
const DEPTH_MAX = 3;

/** Names shared memory in messages. The memory itself is sent once: each copy would be another object to collect. */
export type MemoryId = string;

/** The shared memory that both threads know. */
export interface SharedMemories {
  /** `memory` is null if the other thread has it. */
  send(memory: SharedArrayBuffer): { id: MemoryId; memory: SharedArrayBuffer | null };
  receive(id: MemoryId, memory: SharedArrayBuffer | null): SharedArrayBuffer;
}

/** Bytes in shared memory as a message. */
class PackedBytes {
  readonly memoryId: MemoryId;
  readonly memory: SharedArrayBuffer | null;
  readonly start: number;
  readonly length: number;

  constructor(bytes: Uint8Array, memories: SharedMemories) {
    const { id, memory } = memories.send(bytes.buffer as unknown as SharedArrayBuffer);
    this.memoryId = id;
    this.memory = memory;
    this.start = bytes.byteOffset;
    this.length = bytes.length;
  }
}

/** Prepares a value to be sent. Large bytes are put into shared memory. */
export function pack(value: unknown, memories: SharedMemories): unknown {
  return mapParts(value, (part) => packPart(part, memories), 0);
}

/** Restores a value that was received. */
export function unpack(value: unknown, memories: SharedMemories): unknown {
  return mapParts(value, (part) => unpackPart(part, memories), 0);
}

function packPart(value: unknown, memories: SharedMemories): unknown {
  if (value instanceof Denial) return new PackedDenial(value);
  if (!(value instanceof Uint8Array)) return value;
  if (isLarge(value) || value.buffer instanceof SharedArrayBuffer)
    return new PackedBytes(shareBytes(value), memories);
  // A view is sent with all of its buffer.
  return value.length === value.buffer.byteLength ? value : Uint8Array.from(value);
}

function unpackPart(value: unknown, memories: SharedMemories): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length);
  if (!isPlain(value)) return value;
  if ('denialType' in value) {
    const { denialType, message, more } = value as unknown as PackedDenial;
    return new Denial(denialType, message, more);
  }
  if (!('memoryId' in value)) return value;
  const { memoryId, memory, start, length } = value as unknown as PackedBytes;
  return viewShared(memories.receive(memoryId, memory), start, length);
}

/** Applies `map` to the value and its members. Elements of lists are looked at only if the value itself is a list. */
function mapParts(value: unknown, map: (part: unknown) => unknown, depth: number): unknown {
  const mapped = map(value);
  if (mapped !== value || depth === DEPTH_MAX) return mapped;
  if (depth === 0 && Array.isArray(value)) return value.map((element) => mapParts(element, map, 1));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapParts(member, map, depth + 1)]),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
