/** Documents as resources of MCP: a client reads the PDF to which an answer of `get_document` links. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { DOCUMENT_URI_TEMPLATE, parseDocumentUri } from './document-uri.ts';
import type { Session } from './session.ts';
import { ToolError } from './tool-error.ts';

const PDF = 'application/pdf';

export const DOCUMENT_TEMPLATE = {
  uriTemplate: DOCUMENT_URI_TEMPLATE,
  name: 'document',
  title: 'Document of a record',
  description: 'The report of a record as PDF, as get_document returns its text.',
  mimeType: PDF,
};

/** Reads the document under the rights of the request. Throws a ProtocolError for any error. */
export async function readDocumentResource(
  uri: string,
  session: Session,
): Promise<{ uri: string; mimeType: string; blob: string }> {
  const place = parseDocumentUri(uri);
  if (place === null)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The uri is not one of a document.', { uri });
  try {
    const { instance, ...query } = place;
    const { content } = await session.readDocument(await session.pickInstance(instance), query);
    return { uri, mimeType: PDF, blob: content.toString('base64') };
  } catch (error) {
    if (error instanceof ToolError)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { uri });
    throw error;
  }
}
