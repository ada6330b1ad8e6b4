/** Examines a server. Its checks are reported as they are found. */
import type { Examination, ExaminationCheck } from '@erp-proxy/contract';
import { type AdminRequest, sendRaw } from '../../api/send.ts';

type Line = { check: ExaminationCheck } | { examination: Examination };

export async function examine(
  request: AdminRequest,
  onCheck: (check: ExaminationCheck) => void,
  signal: AbortSignal,
): Promise<Examination> {
  const response = await sendRaw(request, signal, { accept: 'application/x-ndjson' });
  if (response.body === null) throw new Error('The answer is empty.');
  for await (const text of readLines(response.body)) {
    const line = JSON.parse(text) as Line;
    if ('examination' in line) return line.examination;
    onCheck(line.check);
  }
  throw new Error('The examination broke off. Test again.');
}

/** The lines of a body, without empty ones. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? '')).split('\n');
    rest = done ? '' : (lines.pop() ?? '');
    yield* lines.filter((line) => line !== '');
    if (done) return;
  }
}
