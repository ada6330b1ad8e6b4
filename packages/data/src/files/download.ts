/**
 * Serves `POST /api/erp/download`: sends the file in a binary field of a record, decoded while it arrives. One call of
 * `read` asks for name and media type, if the model has them, and then for the file.
 */

import { invalid } from '@erp-proxy/gateway/call';
import { buildErrorAnswer } from '@erp-proxy/gateway/request';
import { type CallRunner, Denial, type FoundTypes } from '@erp-proxy/gateway/terms';
import { mayNameField } from '@erp-proxy/policy/abilities';
import { buildCall } from '../ask-odoo.ts';
import { type DataRequest, readDataRequest, readMemberBytes } from '../data-request.ts';
import { MISSING_RECORD } from '../missing-record.ts';
import { setContextMembers } from '../set-context.ts';
import { DownloadWriter } from './download-writer.ts';
import { CONTENT_FIELDS, chooseFileField } from './file-field.ts';
import { readFileMembers } from './file-members.ts';

const MEMBERS = ['record', 'field', 'context'];

/** The model in which each record is a file. */
const FILES = 'ir.attachment';
/** Fields of `ir.attachment`: the name and the media type of a file, and those that tell why it has no content. */
const DESCRIBING_FIELDS = { name: 'name', mediaType: 'mimetype' };
const EXPLAINING_FIELDS = { type: 'type', size: 'file_size' };

export async function download(runner: CallRunner): Promise<null> {
  const request = readDataRequest(runner.bytes, MEMBERS);
  const denial = 'denial' in request ? request.denial : await send(request, runner);
  if (denial !== null) runner.refuse(denial, request.id);
  return null;
}

/** Returns null after the answer was sent. */
async function send(request: DataRequest, runner: CallRunner): Promise<Denial | null> {
  const members = readFileMembers(request);
  if (members instanceof Denial) return members;
  const { field: named, record } = members;
  if (record === null) return invalid('record', '`record` is missing: the id of the record with the file.');
  const isFile = request.model === FILES;
  const find = (name: string) => (isFile && mayNameField(runner.client.policy, FILES, name) ? name : null);
  const [name, mediaType] = [find(DESCRIBING_FIELDS.name), find(DESCRIBING_FIELDS.mediaType)];
  // Type and size describe the content, not other files of the record, such as its thumbnail.
  const isContent = isFile && CONTENT_FIELDS.includes(named);
  const [type, size] = isContent
    ? [find(EXPLAINING_FIELDS.type), find(EXPLAINING_FIELDS.size)]
    : [null, null];
  const others = [name, mediaType, type, size];
  const build = (field: string, context: Uint8Array | string) =>
    buildCall(request, {
      method: 'read',
      params: `[[${record}]]`,
      keyword: { fields: JSON.stringify([...others.filter((other) => other !== null), field]), context },
    });
  const given = readMemberBytes(request, 'context');
  const found = await runner.findFields(build(named, given ?? '{}'), [named]);
  const { field, ...refused } = chooseFileField(request.model, named, found, 'read');
  const context = setContextMembers(given, askForContent(field));
  if (context instanceof Denial) return context;
  const call = build(field, context);
  const writer = new DownloadWriter({
    target: runner.exchange.writer,
    headers: runner.describe(),
    field,
    nameField: name,
    mediaTypeField: mediaType,
    sizeField: size,
    range: runner.exchange.header('range'),
    plainName: `${request.model.replaceAll('.', '_')}-${record}-${field}`,
    explainEmpty: isContent
      ? explainEmptyFile
      : (_, isText) => (isText && holdsFiles(found, field) ? LOST : null),
    // Renewed, because a large file takes longer than a call. A caller that reads too slowly is cut off all the same.
    onPiece: () => runner.renewTime(),
  });
  const denial = (await runner.run(call, writer, refused)) ?? writer.denial;
  if (denial !== 'no_record') return denial;
  const answer = buildErrorAnswer(request.id, MISSING_RECORD);
  runner.exchange.writer.sendWhole(200, runner.describe(), answer);
  return null;
}

/**
 * Members of the context without which Odoo returns the size in place of the file, or, from 19.3 on, something else.
 */
function askForContent(field: string): Map<string, string> {
  return new Map([
    ['bin_size', 'false'],
    [`bin_size_${field}`, 'false'],
    ['include_binary_content', 'true'],
  ]);
}

/** `texts`: the known fields of the attachment. */
function explainEmptyFile(texts: ReadonlyMap<string, string>): Denial | null {
  if (texts.get(EXPLAINING_FIELDS.type) === 'url')
    return new Denial('invalid_params', '`record` is a link and has no file in Odoo: read its field `url`.', {
      path: 'record',
    });
  return Number(texts.get(EXPLAINING_FIELDS.size) ?? 0) === 0 ? null : LOST;
}

/**
 * True for a field with stored files: its value is false without a file, and an empty text if the file is missing on
 * disk.
 */
function holdsFiles(found: FoundTypes | null, field: string): boolean {
  const type = found !== null && 'types' in found ? found.types.get(field) : undefined;
  return type !== undefined && (type.computedFrom.length === 0 || type.isStored === true);
}

const LOST = new Denial(
  'upstream_bad_response',
  'Odoo has lost this file: the record has one, and Odoo gave no bytes. Restore it from a backup of its filestore.',
  { isReadOnly: true, detail: 'the file of a record is missing' },
);
