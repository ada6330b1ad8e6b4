/** Reads the PDF of an attachment as a whole. */
import type { Reply, ServerAccess, ServerFailure } from '@erp-proxy/gateway/terms';
import { findValue, type JsonSpan, readElements, readMembers } from '@erp-proxy/json';
import { replyPdf } from './pdf-file.ts';

/** Maximum size of an answer with a PDF, which base64 makes a third larger. */
export const PDF_ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** Members of the context without which Odoo returns the size, or, from 19.3 on, something else. */
const CONTENT = { bin_size: false, include_binary_content: true };
/** More fields than are asked for. */
const MEMBERS_MAX = 10;

/** `reply`: null if the attachment is no PDF. `owner`: the record that it belongs to, as `model,id`. */
export async function readAttachment(
  id: number,
  server: ServerAccess,
): Promise<{ reply: Reply | null; owner: string } | { failed: ServerFailure }> {
  const read = (field: string) =>
    server.ask({
      model: 'ir.attachment',
      method: 'read',
      params: [[id], ['name', 'res_model', 'res_id', field]],
      keyword: { context: CONTENT },
      bytesMax: PDF_ANSWER_BYTES_MAX,
    });
  let field = 'datas';
  let answer = await read(field);
  if ('failed' in answer && 'fault' in answer.failed && answer.failed.fault.data.type === 'query_invalid') {
    // From 19.3 on, the content is in `raw` alone.
    field = 'raw';
    answer = await read(field);
  }
  if ('failed' in answer) return answer;
  const { result } = answer;
  const members = readMembers(result, readFirst(result), MEMBERS_MAX);
  const text = (name: string) => {
    const value = findValue(members, name);
    return value?.kind === 'string' || value?.kind === 'number'
      ? String(JSON.parse(result.toString('utf8', value.start, value.end)))
      : '';
  };
  const content = findValue(members, field);
  const reply = content === undefined ? null : await replyPdf(result, content, text('name'));
  return { reply, owner: `${text('res_model')},${text('res_id')}` };
}

function readFirst(bytes: Uint8Array): JsonSpan {
  let first: JsonSpan = { kind: 'object', start: 0, end: 0 };
  readElements(bytes, { kind: 'array', start: 0, end: bytes.length }, (element) => {
    first = element;
    return false;
  });
  return first;
}
