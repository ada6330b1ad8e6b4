/** `read_file`: the text of a file in a binary field, or a description of the file and how to download it. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import { isObject } from '@erp-proxy/json';
import { mayCallAnywhere, mayUseData } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { readDocument } from '../documents/read-document.ts';
import type { Session } from '../session.ts';
import { cleanText, DATA_NOTE, LISTED_TEXT_MAX, showValue } from '../show.ts';
import { fitTextPart } from '../text-parts.ts';
import { AnswerWithPart, defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';

const ATTACHMENTS = 'ir.attachment';
const ATTACHMENT_FIELD = 'datas';
/** Fields of attachments that describe their file. */
const DESCRIBING_FIELDS = ['name', 'mimetype', 'file_size'];
/** A larger file is not read: only a small part of its text would fit. */
const FILE_BYTES_MAX = 512 * 1024;
/** Maximum size of the text in the answer, as JSON. */
const TEXT_BYTES_MAX = 5500;
/** Matches the media types of PDFs and of office files. */
const DOCUMENT_TYPE = /\/pdf$|officedocument|opendocument/;
const DOCUMENT_BEGINNINGS = ['%PDF-', 'PK\x03\x04'];
/** Matches the media types of texts. */
const TEXT_TYPE = /^text\/|[/+](json|xml|csv|yaml|javascript|sql)\b/;

export const readFile = defineTool({
  name: 'read_file',
  title: 'Read a file',
  description:
    'Reads the text of a file: of an attachment (model ir.attachment), or of a binary field of any record. A picture (PNG, JPEG, GIF, WebP) comes as an image; smaller ones are in image_512 and image_128 of records. Of a PDF or an office file (docx, xlsx, pptx, odt, ods) it returns the text. For another file it returns name, type and size. Find attachments by search_records on ir.attachment with res_model and res_id.',
  input: z.strictObject({
    model: given.model,
    id: z.int().positive().describe('Id of the record with the file.'),
    field: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'expected the name of a binary field, such as "datas"')
      .optional()
      .describe('The binary field. Leave it out for ir.attachment.'),
    offset: z
      .int()
      .nonnegative()
      .optional()
      .describe('Where the text is read on: `next` of the previous answer.'),
    instance: given.instance,
  }),
  output: z.object({
    name: z.string().optional(),
    type: z.string().optional().describe('Media type.'),
    size: z.int().optional().describe('In bytes. Odoo may round it.'),
    text: z.string().optional(),
    clipped: z.boolean().optional().describe('The text is only a part of the file.'),
    next: z.int().optional().describe('The text goes on: send this as `offset`.'),
    download: z.string().optional().describe('How a program gets the whole file.'),
    note: given.note,
  }),
  example: '{"model": "ir.attachment", "id": 42}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayUseData(policy, 'files') && mayCallAnywhere(policy, 'read'),
  async run(args, session) {
    const { model, id, offset = 0, instance } = args;
    const field = args.field ?? (model === ATTACHMENTS ? ATTACHMENT_FIELD : undefined);
    if (field === undefined) {
      throw new ToolError('invalid_params', '`field` is needed for a model other than ir.attachment.', {
        next: `Find the binary fields by describe_model {"model": "${model}", "query": "file"}.`,
      });
    }
    const target = await session.pickInstance(instance);
    const file = await describeFile({ model, id, field }, target, session);
    const isText = file.type === undefined || TEXT_TYPE.test(file.type);
    const isSmall = file.size === undefined || file.size <= FILE_BYTES_MAX;
    const { name, type, size } = file;
    const isPicture = type === undefined || type.startsWith('image/');
    const isDocument = type !== undefined && DOCUMENT_TYPE.test(type);
    const content = (isText || isPicture || isDocument) && isSmall ? await file.readContent() : null;
    const pictureType = content === null ? null : findPictureType(content);
    const text = content === null || pictureType !== null ? null : await readText(content);
    const described = {
      ...(name === undefined ? {} : { name: showText(name) }),
      ...(type === undefined ? {} : { type: showText(type) }),
      ...(size === undefined ? {} : { size }),
    };
    const part = text === null ? null : fitTextPart(text, offset, TEXT_BYTES_MAX);
    const answer = {
      ...described,
      ...(part === null ? {} : { text: part.text }),
      ...(part === null || part.next === null ? {} : { clipped: true, next: part.next }),
      ...(part?.next === null ? {} : { download: describeDownload(model, id, field, target.name) }),
      note: DATA_NOTE,
    };
    return content === null || pictureType === null
      ? answer
      : new AnswerWithPart(
          { ...answer, type: pictureType },
          { type: 'image', data: content, mimeType: pictureType },
        );
  },
});

/** The first bytes of the formats that models can see, in base64, where three bytes are four letters. */
const PICTURE_BEGINNINGS: readonly [string, RegExp][] = [
  ['image/png', /^iVBORw0KGg/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  ['image/webp', /^UklGR.{6}XRUJQ/],
];

/**
 * Finds the type by the content: a binary field does not state a type, and that of an attachment comes from its sender.
 */
function findPictureType(base64: string): string | null {
  return PICTURE_BEGINNINGS.find(([, beginning]) => beginning.test(base64))?.[0] ?? null;
}

interface Place {
  model: string;
  id: number;
  field: string;
}

interface FileDescription {
  name: string | undefined;
  type: string | undefined;
  size: number | undefined;
  /** The file in base64; null if it no longer exists. */
  readContent(): Promise<string | null>;
}

/** Reads the size in place of the file. */
async function describeFile(
  { model, id, field }: Place,
  target: InstanceRecord,
  session: Session,
): Promise<FileDescription> {
  await session.checkFields(target, model, [field]);
  const known = await session.fields(target, model);
  const found = known?.get(field);
  if (found !== undefined && found.type !== 'binary') {
    throw new ToolError('invalid_params', `\`field\` must be a binary field: ${field} is ${found.type}.`, {
      next: 'Read other fields by read_records.',
    });
  }
  const describing = model === ATTACHMENTS ? DESCRIBING_FIELDS.filter((name) => known?.has(name)) : [];
  const read = async (names: readonly string[], context: Record<string, unknown>) => {
    const rows = await session.call(target, model, 'read', [[id], names], { context, data: 'files' });
    const row = Array.isArray(rows) ? rows[0] : undefined;
    if (isObject(row)) return row;
    throw new ToolError('record_missing', `There is no ${model} with the id ${id}, or it is not visible.`, {
      next: `Find records that exist by search_records {"model": "${model}"}.`,
    });
  };
  const row = await read([...describing, field], { bin_size: true });
  const value = row[field];
  if (typeof value !== 'string' || value === '') {
    throw new ToolError('invalid_params', `${field} of ${model} ${id} has no file.`, {
      next: 'Tell the user that the file is empty, or use another record.',
    });
  }
  const { name, mimetype, file_size: bytes } = row;
  const printed = readSize(value);
  const size = Number.isSafeInteger(bytes) && Number(bytes) > 0 ? Number(bytes) : printed;
  return {
    name: typeof name === 'string' ? name : undefined,
    type: typeof mimetype === 'string' ? mimetype : undefined,
    size: size ?? undefined,
    async readContent() {
      // Some fields return the file even if the size is asked for.
      if (printed === null) return value;
      const whole = (await read([field], { bin_size: false, [`bin_size_${field}`]: false }))[field];
      return typeof whole === 'string' ? whole : null;
    },
  };
}

const UNITS: Readonly<Record<string, number>> = { bytes: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/** A size as Odoo prints it for people, such as `12.35 Kb`. Null for another text. */
function readSize(text: string): number | null {
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,9})?) ?(bytes|[kmg]b)$/i.exec(text) ?? [];
  return number === undefined ? null : Math.round(Number(number) * (UNITS[unit.toLowerCase()] ?? 1));
}

/** Cuts a name, which its sender can make as long as they like. */
function showText(text: string): unknown {
  return showValue(text, LISTED_TEXT_MAX).shown;
}

/** The text of a document, or of a text file. */
async function readText(base64: string): Promise<string | null> {
  const bytes = Buffer.from(base64, 'base64');
  if (!DOCUMENT_BEGINNINGS.some((beginning) => bytes.indexOf(beginning) === 0)) return decodeText(bytes);
  const text = await readDocument(bytes);
  return text === null ? null : cleanText(text);
}

/** Null if the bytes are not text in UTF-8. */
function decodeText(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return cleanText(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

function describeDownload(model: string, id: number, field: string, instance: string): string {
  const body = { model_id: model, record: id, field, erp_instance: { name: instance } };
  return `A program with this key can send POST /api/erp/download ${JSON.stringify(body)}.`;
}
