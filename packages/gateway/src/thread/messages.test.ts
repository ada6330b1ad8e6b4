/** Values arrive as they were sent, whatever the names of their members. fast-check prints the seed. */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { Denial } from '../terms/denial.ts';
import { type MemoryId, pack, type SharedMemories, unpack } from './messages.ts';

/** Both sides of a channel within one thread. */
class BothMemories implements SharedMemories {
  readonly #ids = new Map<SharedArrayBuffer, MemoryId>();
  readonly #byId = new Map<MemoryId, SharedArrayBuffer>();

  send(memory: SharedArrayBuffer): { id: MemoryId; memory: SharedArrayBuffer | null } {
    const known = this.#ids.get(memory);
    if (known !== undefined) return { id: known, memory: null };
    const id = `main ${this.#ids.size}`;
    this.#ids.set(memory, id);
    return { id, memory };
  }

  receive(id: MemoryId, memory: SharedArrayBuffer | null): SharedArrayBuffer {
    if (memory !== null) this.#byId.set(id, memory);
    return this.#byId.get(id)!;
  }
}

function makeShared(byte: number): Buffer {
  const whole = new Uint8Array(new SharedArrayBuffer(10)).fill(byte);
  return Buffer.from(whole.buffer as unknown as ArrayBuffer, 2, 5);
}

const part = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  fc.nat(255).map((byte) => Buffer.alloc(70_000, byte)),
  fc.nat(255).map(makeShared),
  fc.constantFrom<unknown>(null, 1, 'text', new Denial('overloaded', 'busy', { detail: 'd' })),
  fc.constant(new Map([['res.partner', new Set(['name'])]])),
);
/** Some are those of the messages. */
const name = fc.oneof(
  fc.string({ maxLength: 3 }),
  fc.constantFrom('kind', 'memoryId', 'memory', 'start', 'length', 'parts', 'path', 'part', 'value'),
  fc.constantFrom('__proto__', 'type', '0'),
);
const makeObject = (member: fc.Arbitrary<unknown>) =>
  fc.array(fc.tuple(name, member), { maxLength: 4 }).map((members) => Object.fromEntries(members));
const shallow = fc.oneof(part, makeObject(part));
const deep = fc.oneof(part, makeObject(shallow));
const value = fc.oneof(part, makeObject(deep), fc.array(deep, { maxLength: 4 }));

test('a value arrives as it was sent', () => {
  const memories = new BothMemories();
  const { port1, port2 } = new MessageChannel();
  fc.assert(
    fc.property(value, (sent) => {
      port1.postMessage(pack(sent, memories));
      expect(unpack(receiveMessageOnPort(port2)!.message, memories)).toStrictEqual(sent);
    }),
    { numRuns: countCases(300) },
  );
  port1.close();
});
