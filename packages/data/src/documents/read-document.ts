/** Reads the document of a record as a whole, for tools of agents. */
import { AnswerCollector } from '@erp-proxy/async/streams';
import { type CallRunner, Denial } from '@erp-proxy/gateway/terms';
import { readDataRequest } from '../data-request.ts';
import { DOCUMENT_MEMBERS, readDocumentMembers } from './document-members.ts';
import { readDispositionName } from './pdf-file.ts';
import { DocumentPrinter } from './print-document.ts';
import { PDF_ANSWER_BYTES_MAX } from './read-attachment.ts';

/** `bytes`: a request for one document (docs/documents.md). `error`: an error answer as a whole. */
export async function readDocument(
  bytes: Uint8Array,
  runner: CallRunner,
): Promise<{ name: string; content: Buffer } | { denial: Denial } | { error: Uint8Array }> {
  const request = readDataRequest(bytes, DOCUMENT_MEMBERS);
  if ('denial' in request) return request;
  const members = readDocumentMembers(request);
  if (members instanceof Denial) return { denial: members };
  const leave = runner.admitData('documents');
  if (leave instanceof Denial) return { denial: leave };
  try {
    const writer = new AnswerCollector(PDF_ANSWER_BYTES_MAX, 'cancelled');
    const [record] = members.ids as [number];
    const denial = await new DocumentPrinter(request, members, runner).print(record, writer);
    if (denial !== null) return { denial };
    if (writer.isTooLarge) return { denial: TOO_LARGE };
    if (!writer.isWhole) return { denial: BROKEN_OFF };
    const disposition = writer.headers['content-disposition'];
    if (disposition === undefined) return { error: writer.join() };
    const name = readDispositionName(String(disposition)) ?? 'document.pdf';
    return { name, content: Buffer.from(writer.join()) };
  } finally {
    leave?.();
  }
}

const TOO_LARGE = new Denial('upstream_bad_response', 'The document is larger than 16 MiB.', {
  isReadOnly: true,
});
const BROKEN_OFF = new Denial('upstream_unreachable', 'The document broke off; ask for it again.', {
  isReadOnly: true,
});
