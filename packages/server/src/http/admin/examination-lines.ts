/**
 * Answers an examination: as one JSON value, or, for a caller that accepts it, as one line of JSON for each check as
 * soon as it is found, and a last line with the whole examination.
 */
import { Readable } from 'node:stream';
import type { Examination, ExaminationCheck } from '@erp-proxy/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

const EXAMINATION_LINES = 'application/x-ndjson';

type Examine = (onCheck?: (check: ExaminationCheck) => void) => Promise<Examination>;

/** Returns the body of the answer. Rejects if the examination fails before its first check. */
export async function answerExamination(
  examine: Examine,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<Examination | Readable> {
  if (!acceptsLines(headers.accept)) return examine();
  const lines = new Readable({ read() {} });
  const print = (line: object) => lines.push(`${JSON.stringify(line)}\n`);
  const first = Promise.withResolvers<void>();
  const ended = examine((check) => {
    print({ check });
    first.resolve();
  }).then((examination) => {
    print({ examination });
    lines.push(null);
  });
  await Promise.race([first.promise, ended]);
  ended.catch((error: Error) => lines.destroy(error));
  reply.header('content-type', EXAMINATION_LINES);
  return lines;
}

function acceptsLines(accept: string | undefined): boolean {
  const types = accept?.split(',').map((type) => type.split(';', 1)[0]?.trim().toLowerCase());
  return types?.includes(EXAMINATION_LINES) === true;
}
