/** Files, which belong to a record or to no record. */
import { isUtf8 } from 'node:buffer';
import { Binary } from '../json/binary.ts';
import { nameType } from '../json/print-python.ts';
import { isTrue, type Json, type JsonObject } from '../json/value.ts';
import { listReadableModels } from '../orm/access.ts';
import { typeError } from '../orm/fault.ts';
import {
  binary,
  boolean,
  char,
  integer,
  many2one,
  many2oneReference,
  selection,
  text,
} from '../orm/field.ts';
import type { Environment, ModelSpec } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';

export const attachment: ModelSpec = {
  name: 'ir.attachment',
  description: 'Attachment',
  order: 'id desc',
  rule: listReadable,
  hiddenBy: 'res_field',
  // Without content, `datas` is the empty text.
  beforeCreate: (_, values) => {
    const { datas, raw, ...others } = values;
    return addType(datas || raw ? readRaw(values) : others);
  },
  beforeWrite: (environment, values) => {
    if (environment.personality.rejectsRawText && values['raw'])
      throw typeError('`bin_data` must be bytes or bytearray');
    return readRaw(values);
  },
  fields: {
    name: char('Name', { required: true }),
    description: text('Description'),
    res_model: char('Resource Model'),
    res_field: char('Resource Field'),
    res_id: many2oneReference('Resource ID'),
    company_id: many2one('Company', 'res.company', { default: 1 }),
    type: selection(
      'Type',
      [
        ['url', 'URL'],
        ['binary', 'File'],
      ],
      { required: true, default: 'binary' },
    ),
    url: char('Url'),
    public: boolean('Is public document'),
    datas: binary('File Content (base64)', {
      default: '',
      store: false,
      searchable: false,
      sortable: false,
    }),
    raw: binary('File Content (raw)', { compute: showRaw, readonly: false, searchable: false }),
    file_size: integer('File Size', {
      readonly: true,
      compute: (_, row) => readContent(row)?.size ?? 0,
      storedFrom: ['datas'],
    }),
    checksum: char('Checksum/SHA1', {
      readonly: true,
      size: 40,
      compute: (_, row) => readContent(row)?.checksum ?? null,
      storedFrom: ['datas'],
    }),
    mimetype: char('Mime Type', { readonly: true }),
  },
};

/** The content of the file. A text in its place, which a test wrote past the ORM, need not be valid base64. */
function readContent(row: Row): Binary | undefined {
  const content = row['datas'];
  if (content instanceof Binary) return content;
  return typeof content === 'string' && content ? Binary.of([Buffer.from(content, 'base64')]) : undefined;
}

const types: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  xml: 'application/xml',
  zip: 'application/zip',
};

/**
 * The value of `raw`. JSON has no bytes: it is the content as UTF-8, or otherwise as Latin-1 (17 and earlier), or there
 * is no answer (18 and later).
 */
function showRaw({ context, personality }: Environment, row: Row): Json {
  const content = readContent(row);
  if (!content || content.size === 0) return personality.rejectsRawText && content ? '' : null;
  if (isTrue(context['bin_size'])) return content;
  const bytes = Buffer.concat([...content.chunks()]);
  if (isUtf8(bytes)) return bytes.toString();
  // A lone surrogate makes the answer fail as in Odoo, because it cannot be encoded.
  return personality.showsRawBytes ? bytes.toString('latin1') : '\ud800';
}

/** A text in `raw` is the content itself, not its base64. False empties the file. */
function readRaw({ raw, ...values }: JsonObject): JsonObject {
  if (raw === undefined)
    return 'datas' in values && !values['datas'] ? { ...values, datas: Binary.of([]) } : values;
  if (raw instanceof Binary) return { ...values, datas: Binary.of([Buffer.from(raw.toBase64())]) };
  if (raw && typeof raw !== 'string') throw typeError(`'${nameType(raw)}' object is not subscriptable`);
  return { ...values, datas: Binary.of([Buffer.from(String(raw || ''))]) };
}

function addType(values: JsonObject): JsonObject {
  if (values['mimetype']) return values;
  const extension = /\.(\w+)$/.exec(String(values['name']))?.[1] ?? '';
  return { ...values, mimetype: types[extension.toLowerCase()] ?? 'application/octet-stream' };
}

/** Files that are public, files of the user, and files of models that the user may read. */
function listReadable(environment: Environment): Json {
  if (environment.hasGroup('base.group_system')) return [];
  return [
    '|',
    '|',
    ['public', '=', true],
    ['create_uid', '=', environment.uid],
    ['res_model', 'in', listReadableModels(environment)],
  ];
}
