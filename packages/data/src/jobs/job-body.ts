/** What is stored of the request of a job, and how: sealed, in parts, which keep the event loop free. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { JobRow, JobStore } from '@erp-proxy/stores/ports';
import type { JobSeal } from './job-seal.ts';

/** Bytes of a part. Sealing one takes less than a millisecond. */
export const PART_BYTES = 256 * 1024;
/** The name of the attempt that has the parts of the body. */
export const BODY = '';

/** The parts of a request that its job needs again. */
export interface JobHead {
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address of the caller, for the networks of the policy. */
  readonly address: string | null;
  /** The token of an identity provider by which the client is found again; null: its key is stored. */
  readonly token: string | null;
}

/** The first part has the head, all others the body. */
export async function sealBody(head: JobHead, body: Uint8Array, seal: JobSeal): Promise<Uint8Array[]> {
  const parts = [seal.seal(namePart(BODY, 0), Buffer.from(JSON.stringify(head)))];
  for (let start = 0; start < body.length; start += PART_BYTES) {
    parts.push(seal.seal(namePart(BODY, parts.length), body.subarray(start, start + PART_BYTES)));
    await yieldToEventLoop();
  }
  return parts;
}

export async function openBody(
  { id, bodyParts }: JobRow,
  store: Pick<JobStore, 'readPart'>,
  seal: JobSeal,
): Promise<{ head: JobHead; body: Uint8Array }> {
  const parts: Uint8Array[] = [];
  for (let number = 0; number < bodyParts; number++) {
    const part = await openPart(id, BODY, number, store, seal);
    if (part === null) throw new Error('a part of the body of a job is missing');
    parts.push(part);
  }
  const [head, ...pieces] = parts;
  return { head: JSON.parse(Buffer.from(head!).toString()), body: Buffer.concat(pieces) };
}

/** Null: the part is not there any more. */
export async function openPart(
  job: string,
  attempt: string,
  number: number,
  store: Pick<JobStore, 'readPart'>,
  seal: JobSeal,
): Promise<Uint8Array | null> {
  const sealed = await store.readPart(job, attempt, number);
  return sealed && seal.open(namePart(attempt, number), sealed);
}

/** The place of a part, to which it is sealed. */
export function namePart(attempt: string, number: number): string {
  return `${attempt} ${number}`;
}
