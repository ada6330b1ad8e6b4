/** Files, which belong to a record or to nothing. */
import { Binary } from '../json/binary.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { listReadableModels } from '../orm/access.ts';
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
  beforeCreate: addType,
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
    datas: binary('File Content (base64)'),
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

/** Text in the place of a file is no base64, and was written past the ORM. */
function readContent(row: Row): Binary | undefined {
  const content = row['datas'];
  if (content instanceof Binary) return content;
  return typeof content === 'string' ? Binary.of([Buffer.from(content, 'base64')]) : undefined;
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

function addType(_: Environment, values: JsonObject): JsonObject {
  if (values['mimetype']) return values;
  const extension = /\.(\w+)$/.exec(String(values['name']))?.[1] ?? '';
  return { ...values, mimetype: types[extension.toLowerCase()] ?? 'application/octet-stream' };
}

/** Files that are public, the user's own, or of a model that the user may read. */
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
