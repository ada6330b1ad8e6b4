/** Sends a file that is in memory: compressed if the client takes that, or 304 if the client has it. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { encodeWhole, negotiateEncoding } from './encoding.ts';
import { hasTag } from './etag.ts';

export const FILE_ENCODINGS = ['br', 'gzip'] as const;
export type FileEncoding = (typeof FILE_ENCODINGS)[number];

export interface FileKind {
  type: string;
  isCompressible: boolean;
}

export interface ServedFile {
  type: string;
  /** The ETag of the uncompressed form. */
  etag: string;
  plain: Buffer;
  /** Empty for a file whose format is compressed already. */
  encodings: readonly FileEncoding[];
  /** Returns a compressed form, which is created at most once. */
  encode(encoding: FileEncoding): Promise<Buffer>;
}

/** `forms`: compressed forms that exist already. */
export function makeServedFile(
  { type, isCompressible }: FileKind,
  plain: Buffer,
  forms: Map<FileEncoding, Promise<Buffer>> = new Map(),
): ServedFile {
  return {
    type,
    etag: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    plain,
    encodings: isCompressible ? FILE_ENCODINGS : [],
    encode(encoding) {
      const form = forms.get(encoding) ?? encodeWhole(encoding, plain);
      forms.set(encoding, form);
      return form;
    },
  };
}

/** `fixed`: the headers of every answer, also of 304. */
export async function sendFile(
  file: ServedFile,
  fixed: Readonly<Record<string, string>>,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const encoding = negotiateEncoding(headers['accept-encoding'], file.encodings);
  const etag = `"${file.etag}${encoding === null ? '' : `-${encoding}`}"`;
  reply.headers({ ...fixed, etag, vary: 'accept-encoding' });
  if (hasTag(headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.type(file.type).send(encoding === null ? file.plain : await file.encode(encoding));
}
