/**
 * Serves `POST /api/erp/download`: the file in a binary field of a record, decoded as it arrives. One call of `read`
 * asks for the name and the media type, where the model has them, and then for the file.
 */
import { invalid } from '../../execute/call/read-members.ts';
import { buildErrorAnswer } from '../../execute/request/envelope.ts';
import type { Conversation } from '../../execute/terms/conversation.ts';
import { Denial } from '../../execute/terms/denial.ts';
import { classifyFault } from '../../odoo/faults/faults.ts';
import { mayNameField } from '../../policy/may-name.ts';
import { buildCall } from '../ask-odoo.ts';
import { type DataRequest, readDataRequest, readMemberBytes } from '../data-request.ts';
import { setContextMembers } from '../set-context.ts';
import { DownloadWriter } from './download-writer.ts';
import { readField, readRecord } from './file-members.ts';

const MEMBERS = ['record', 'field', 'context'];

/** By model: the fields with the name and the media type of its files. */
const DESCRIBING_FIELDS: ReadonlyMap<string, { name: string; mediaType: string }> = new Map([
  ['ir.attachment', { name: 'name', mediaType: 'mimetype' }],
]);

export async function download(conversation: Conversation): Promise<null> {
  const request = readDataRequest(conversation.bytes, MEMBERS);
  const denial = 'denial' in request ? request.denial : await send(request, conversation);
  if (denial !== null) conversation.refuse(denial, request.id);
  return null;
}

/** Null once the answer is sent. */
async function send(request: DataRequest, conversation: Conversation): Promise<Denial | null> {
  const field = readField(request);
  if (field instanceof Denial) return field;
  const record = readRecord(request);
  if (record instanceof Denial) return record;
  if (record === null) return invalid('record', '`record` is missing: the id of the record with the file.');
  // With `bin_size`, Odoo would give the size in place of the file.
  const sizes = new Map([
    ['bin_size', 'false'],
    [`bin_size_${field}`, 'false'],
  ]);
  const context = setContextMembers(readMemberBytes(request, 'context'), sizes);
  if (context instanceof Denial) return context;
  const { name, mediaType } = findDescribingFields(request.model, field, conversation);
  const fields = [name, mediaType, field].filter((asked) => asked !== null);
  const call = buildCall(request, {
    method: 'read',
    params: `[[${record}]]`,
    keyword: { fields: JSON.stringify(fields), context },
  });
  const writer = new DownloadWriter({
    target: conversation.exchange.writer,
    headers: conversation.describe(),
    field,
    nameField: name,
    mediaTypeField: mediaType,
    // A large file takes longer than a call. A caller that reads too slowly is cut off all the same.
    onPiece: () => conversation.renewTime(),
  });
  const denial = (await conversation.run(call, writer)) ?? writer.denial;
  if (denial !== 'no_record') return denial;
  const answer = buildErrorAnswer(request.id, MISSING);
  conversation.exchange.writer.sendWhole(200, conversation.describe(), answer);
  return null;
}

/** Some versions read a record that does not exist as an empty list, and others raise this. */
const MISSING = classifyFault(
  {
    code: 200,
    message: 'Odoo Server Error',
    data: {
      name: 'odoo.exceptions.MissingError',
      message: 'Record does not exist or has been deleted.',
      arguments: ['Record does not exist or has been deleted.'],
      context: {},
    },
  },
  { debug: false, secrets: [] },
);

/** Fields that the policy denies are not asked for. */
function findDescribingFields(model: string, field: string, { client }: Conversation) {
  const find = (name: string | undefined) =>
    name !== undefined && name !== field && mayNameField(client.policy, model, name) ? name : null;
  const fields = DESCRIBING_FIELDS.get(model);
  return { name: find(fields?.name), mediaType: find(fields?.mediaType) };
}
