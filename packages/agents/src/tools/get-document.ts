/** `get_document`: the report of a record that Odoo prints as PDF: its text, and a link to the file. */
import { mayCallAnywhere, mayUseData } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { printDocumentUri } from '../document-uri.ts';
import { readDocument } from '../documents/read-document.ts';
import { cleanText, DATA_NOTE } from '../show.ts';
import { fitTextPart } from '../text-parts.ts';
import { AnswerWithPart, defineTool } from '../tool.ts';
import * as given from './arguments.ts';

/** Maximum size of the text in the answer, as JSON. */
const TEXT_BYTES_MAX = 5500;
const PDF = 'application/pdf';

export const getDocument = defineTool({
  name: 'get_document',
  title: 'Get a document',
  description:
    'Prints a record as Odoo does, such as a quotation (sale.order), an invoice (account.move), a purchase order or a delivery slip (stock.picking with report "stock.action_report_delivery"). Returns the text of the PDF and a link to it. Takes some seconds. For files that are attached to a record, use read_file.',
  input: z.strictObject({
    model: given.model,
    id: z.int().positive().describe('Id of the record.'),
    report: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Xmlid or name of the report. Leave it out for the usual one; an error lists the others.'),
    offset: z
      .int()
      .nonnegative()
      .optional()
      .describe('Where the text is read on: `next` of the previous answer.'),
    instance: given.instance,
    lang: given.lang,
  }),
  output: z.object({
    name: z.string(),
    type: z.string().describe('Media type.'),
    size: z.int().describe('In bytes.'),
    text: z.string().optional().describe('Left out if the PDF has no text.'),
    clipped: z.boolean().optional().describe('The text is only a part of the document.'),
    next: z.int().optional().describe('The text goes on: send this as `offset`.'),
    download: z.string().describe('How a program gets the PDF.'),
    note: given.note,
  }),
  example: '{"model": "sale.order", "id": 7}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayUseData(policy, 'documents') && mayCallAnywhere(policy, 'read'),
  async run({ model, id, report, offset = 0, instance, lang }, session) {
    const target = await session.pickInstance(instance);
    const { name, content } = await session.readDocument(target, { model, record: id, report, lang });
    const text = await readDocument(content);
    const part = text === null ? null : fitTextPart(cleanText(text), offset, TEXT_BYTES_MAX);
    const described = { name, type: PDF, size: content.length };
    const place = { instance: target.name, model, record: id, report, lang };
    return new AnswerWithPart(
      {
        ...described,
        ...(part === null ? {} : { text: part.text }),
        ...(part === null || part.next === null ? {} : { clipped: true, next: part.next }),
        download: describeDownload({ model_id: model, record: id, report, lang }, target.name),
        note: DATA_NOTE,
      },
      { type: 'resource_link', uri: printDocumentUri(place), name, mimeType: PDF, size: content.length },
    );
  },
});

/** Members that are undefined are left out. */
function describeDownload(call: object, instance: string): string {
  const body = { ...call, erp_instance: { name: instance } };
  return `A program with this key can send POST /api/erp/document ${JSON.stringify(body)}.`;
}
