/** Serves `POST /api/erp/document`: sends the report of a record as PDF, or those of several records as an archive. */
import { buildErrorAnswer } from '@erp-proxy/gateway/request';
import { type CallRunner, Denial } from '@erp-proxy/gateway/terms';
import { askOdoo } from '../ask-odoo.ts';
import { type DataRequest, readDataRequest } from '../data-request.ts';
import { describeFile } from '../files/file-headers.ts';
import { MISSING_RECORD } from '../missing-record.ts';
import { nameMembers } from '../name-members.ts';
import { DOCUMENT_MEMBERS, readDocumentMembers } from './document-members.ts';
import { ArchiveWriter, DocumentWriter } from './document-writers.ts';
import { DocumentPrinter } from './print-document.ts';
import { readRows } from './reports.ts';

/** More than the ids and names of the records take. */
const RECORDS_BYTES_MAX = 1024 * 1024;

export async function sendDocument(runner: CallRunner): Promise<null> {
  const request = readDataRequest(runner.bytes, DOCUMENT_MEMBERS);
  const denial = 'denial' in request ? request.denial : await send(request, runner);
  if (denial !== null) runner.refuse(denial, request.id);
  return null;
}

/** Returns null after the answer was sent. */
async function send(request: DataRequest, runner: CallRunner): Promise<Denial | null> {
  const members = readDocumentMembers(request);
  if (members instanceof Denial) return members;
  const { ids, isArchive } = members;
  const max = runner.client.policy?.policy.limit_max ?? Number.POSITIVE_INFINITY;
  if (ids.length > max) {
    const message = `This key may read at most ${max} records a call: send fewer in \`records\`.`;
    return new Denial('policy_denied', message, { rule: 'limit_max', path: 'records' });
  }
  const printer = new DocumentPrinter(request, members, runner);
  if (isArchive) return await sendArchive(ids, request, printer, runner);
  const [record] = ids as [number];
  return await printer.print(record, new DocumentWriter(runner.exchange.writer, runner.describe));
}

async function sendArchive(
  ids: readonly number[],
  request: DataRequest,
  printer: DocumentPrinter,
  runner: CallRunner,
): Promise<Denial | null> {
  const unreadable = await checkRecords(ids, request, printer, runner);
  if (unreadable !== null) return unreadable === 'answered' ? null : unreadable;
  const name = `${request.model.replaceAll('.', '_')}.zip`;
  const file = describeFile({ name, mediaType: 'application/zip' });
  const archive = new ArchiveWriter(runner.exchange.writer, { ...runner.describe(), ...file });
  for (const record of ids) {
    // Each document may take as long as a call.
    runner.renewTime();
    const denial = await printer.print(record, archive.openEntry());
    if (archive.isOver) return null;
    if (denial === null) continue;
    if (!archive.isBegun) return denial;
    archive.breakOff();
    return null;
  }
  archive.finish();
  return null;
}

/** A record that cannot be read is an error before the first byte. Null: all records can be read. */
async function checkRecords(
  ids: readonly number[],
  request: DataRequest,
  printer: DocumentPrinter,
  runner: CallRunner,
): Promise<Denial | 'answered' | null> {
  const { deferral } = runner;
  const question = await printer.describeRead(ids);
  const read = await askOdoo(runner, request, question, RECORDS_BYTES_MAX, { deferral });
  if ('denial' in read) return read.denial;
  const { writer } = runner.exchange;
  if ('error' in read) {
    const headers = { ...runner.describe(), ...read.headers };
    writer.sendWhole(read.status, headers, nameMembers(read.error, 'record'));
    return 'answered';
  }
  if (readRows(Buffer.from(read.result)).length === ids.length) return null;
  writer.sendWhole(200, runner.describe(), buildErrorAnswer(request.id, MISSING_RECORD));
  return 'answered';
}
