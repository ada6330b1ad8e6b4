/**
 * The thread for large calls: runs the tasks that the main thread requests, one after the other. It keeps shared memory
 * until the main thread no longer has it.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { countMemory } from '@erp-proxy/async/shared-bytes';
import {
  type MemoryId,
  type Message,
  pack,
  type SharedMemories,
  type TaskReply,
  type TaskRequest,
  unpack,
} from './messages.ts';
import { TASKS } from './tasks.ts';

class ReceivedMemories implements SharedMemories {
  readonly #byId = new Map<MemoryId, SharedArrayBuffer>();
  readonly #ids = new Map<SharedArrayBuffer, MemoryId>();
  #count = 0;

  send(memory: SharedArrayBuffer): { id: MemoryId; memory: SharedArrayBuffer | null } {
    const known = this.#ids.get(memory);
    if (known !== undefined) return { id: known, memory: null };
    const id = `thread ${this.#count++}`;
    this.#add(id, memory);
    return { id, memory };
  }

  receive(id: MemoryId, memory: SharedArrayBuffer | null): SharedArrayBuffer {
    if (memory !== null) {
      countMemory(memory);
      this.#add(id, memory);
    }
    const known = this.#byId.get(id);
    if (known === undefined) throw new Error(`the memory ${id} was not sent`);
    return known;
  }

  release(id: MemoryId): void {
    const memory = this.#byId.get(id);
    if (memory !== undefined) this.#ids.delete(memory);
    this.#byId.delete(id);
  }

  #add(id: MemoryId, memory: SharedArrayBuffer): void {
    this.#byId.set(id, memory);
    this.#ids.set(memory, id);
  }
}

const memories = new ReceivedMemories();
const port = parentPort as MessagePort;
port.on('message', (request: TaskRequest) => {
  if ('released' in request) memories.release(request.released);
  else port.postMessage(run(request.name, request.args));
});

function run(name: string, args: Message): TaskReply {
  const task = (TASKS as unknown as Record<string, (...args: unknown[]) => unknown>)[name];
  try {
    if (task === undefined) throw new Error(`there is no task ${name}`);
    return { value: pack(task(...(unpack(args, memories) as unknown[])), memories) };
  } catch (error) {
    return { error };
  }
}
