/**
 * The memory in which results are converted, and the WebAssembly that converts most of their members
 * (packages/server/assembly/known-members.ts). There is one memory for all results, because a conversion does not wait.
 */
import { type LentPiece, own } from '../../streams/lent-piece.ts';
import { KnownLayouts } from './known-layouts.ts';
import { KNOWN_MEMBERS_CODE } from './known-members-code.ts';
import { ENTRY_BYTES, type MemberPlan, PLAN_BYTES_MAX } from './member-plan.ts';

/** Maximum number of bytes that are converted at once: a read from a socket, and what was kept before it. */
export const INPUT_BYTES = 80 * 1024;
/** The code reads and writes up to 64 bytes beyond its input and output. */
const MARGIN_BYTES = 1024;
/** What grows most is a reference: `,"a":"b,1"` becomes `,"a":{"model": "b", "id": 1}`. */
const GROWTH_MAX = 3;
/** Bytes before and after an output that its reader may write, to frame it. */
const ROOM_BYTES = 16;
/** Outputs that are sent at the same time. While all are, further ones are copied. */
const OUTPUTS = 16;
const PAGE_BYTES = 64 * 1024;

// Addresses. The compiler of the code expects nothing in the first bytes.
const PLAN = MARGIN_BYTES;
const INPUT = PLAN + PLAN_BYTES_MAX + MARGIN_BYTES;
const FIRST_OUTPUT = INPUT + INPUT_BYTES + MARGIN_BYTES;
const OUTPUT_BYTES = MARGIN_BYTES + GROWTH_MAX * INPUT_BYTES;
const END = FIRST_OUTPUT + (OUTPUTS + 1) * OUTPUT_BYTES;

/** Size of the memory, which is compiled into the code, in pages of 64 KiB. */
export const MEMORY_PAGES = Math.ceil(END / PAGE_BYTES);

/** What the code exports. */
interface Code {
  memory: { readonly buffer: ArrayBuffer };
  /** Arguments and result are addresses. */
  convertMembers(start: number, end: number, output: number, entry: number, lastEntry: number): number;
  written: { readonly value: number };
  stoppedAt: { readonly value: number };
}

export class ConversionMemory {
  readonly #code: Code | null;
  /** All bytes. */
  readonly #bytes: Uint8Array;
  readonly input: Uint8Array;
  /** Their plans are in this memory. */
  readonly layouts = new KnownLayouts();
  /** Where the next output is written. */
  output: Uint8Array;
  readonly #freeOutputs: Uint8Array[];
  /** Counts how often the plans in the memory were dropped to make room. */
  #planGeneration = 1;
  /** Where the next plan is written. */
  #planEnd = PLAN;
  /** The plan that was used last. */
  #plan: MemberPlan | null = null;

  constructor(code: Code | null) {
    const buffer = code?.memory.buffer ?? new ArrayBuffer(END);
    this.#code = code;
    this.#bytes = new Uint8Array(buffer);
    this.input = new Uint8Array(buffer, INPUT, INPUT_BYTES);
    const outputs = Array.from(
      { length: OUTPUTS + 1 },
      (_, index) =>
        new Uint8Array(buffer, FIRST_OUTPUT + index * OUTPUT_BYTES + ROOM_BYTES, OUTPUT_BYTES - ROOM_BYTES),
    );
    this.output = outputs.pop()!;
    this.#freeOutputs = outputs;
  }

  /** False if members must be converted one by one. */
  get hasCode(): boolean {
    return this.#code !== null;
  }

  /** The number of outputs that were not given back. */
  get lentOutputs(): number {
    return OUTPUTS - this.#freeOutputs.length;
  }

  /** Lends the first bytes of the output. The next output is written elsewhere. */
  lendOutput(bytes: number): LentPiece {
    const { output } = this;
    const next = this.#freeOutputs.pop();
    if (next === undefined || bytes === 0) {
      if (next !== undefined) this.#freeOutputs.push(next);
      return own(Buffer.from(output.subarray(0, bytes)));
    }
    this.output = next;
    return {
      bytes: output.subarray(0, bytes),
      roomBytes: ROOM_BYTES,
      giveBack: () => void this.#freeOutputs.push(output),
    };
  }

  /** Length of the output after {@link convertMembers}. */
  get outputBytes(): number {
    return this.#code!.written.value - this.output.byteOffset;
  }

  /** Index of the member at which {@link convertMembers} has stopped. */
  get memberIndex(): number {
    return (this.#code!.stoppedAt.value - this.#plan!.address) / ENTRY_BYTES;
  }

  /**
   * Converts members of the input from `start` on, whose index in the plan is `index`, and appends them to an output of
   * `outputBytes`. Goes on with the next record if `isInList` is true. Returns where it has stopped.
   */
  convertMembers(
    plan: MemberPlan,
    range: { start: number; end: number; outputBytes: number },
    index: number,
    isInList: boolean,
  ): number {
    this.#load(plan);
    const end = this.#code!.convertMembers(
      INPUT + range.start,
      INPUT + range.end,
      this.output.byteOffset + range.outputBytes,
      plan.address + index * ENTRY_BYTES,
      isInList ? 0 : plan.address + plan.length * ENTRY_BYTES,
    );
    return end - INPUT;
  }

  /** Writes what is not in the memory yet. Plans of records in records stay beside each other. */
  #load(plan: MemberPlan): void {
    this.#plan = plan;
    const { bytes, changed } = plan;
    if (plan.generation !== this.#planGeneration || plan.roomBytes < bytes.length) {
      if (this.#planEnd + bytes.length > PLAN + PLAN_BYTES_MAX) {
        this.#planGeneration++;
        this.#planEnd = PLAN;
      }
      plan.generation = this.#planGeneration;
      plan.address = this.#planEnd;
      plan.roomBytes = bytes.length;
      this.#planEnd += bytes.length;
      this.#bytes.set(bytes, plan.address);
    } else if (changed !== null) {
      this.#bytes.set(bytes.subarray(changed.start, changed.end), plan.address + changed.start);
    }
    plan.changed = null;
  }
}

let shared: ConversionMemory | null = null;

/** The memory of all results of this thread. */
export function shareConversionMemory(): ConversionMemory {
  shared ??= new ConversionMemory(compileCode());
  return shared;
}

/** Null if the runtime has no WebAssembly, or the processor lacks vectors of 16 bytes. */
function compileCode(): Code | null {
  try {
    const { exports } = new WebAssembly.Instance(
      new WebAssembly.Module(Buffer.from(KNOWN_MEMBERS_CODE, 'base64')),
    );
    return exports as unknown as Code;
  } catch {
    return null;
  }
}
