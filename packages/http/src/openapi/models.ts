/** The OpenAPI document of some models of one instance: their fields, and calls with their names. */
import { EXECUTE_PATH } from '@erp-proxy/contract';
import { renderNamedSchemas } from '../schema-registry.ts';
import { CALL_SECURITY, describeCallPaths } from './calls.ts';
import type { Descriptions, ModelsQuestion } from './models-exchange.ts';

type Schema = Record<string, unknown>;

/** `base`: the document of all routes. */
export function renderModelsOpenapi(
  base: { info: object },
  { instance }: ModelsQuestion,
  descriptions: Descriptions,
): object {
  const schemas = Object.assign(
    {},
    ...[...descriptions].map(([model, fields]) => describeModel(model, fields, instance)),
  );
  const { clientKey, clientToken } = CALL_SECURITY;
  return {
    ...base,
    info: { ...base.info, title: `erp-proxy: models of ${instance}` },
    tags: [{ name: 'calls', description: 'Calls on Odoo servers.' }],
    paths: { [EXECUTE_PATH]: describeExecute([...descriptions.keys()]) },
    components: {
      schemas: { ...selectUsed(renderNamedSchemas()), ...schemas },
      securitySchemes: { clientKey, clientToken },
    },
  };
}

/** Selects the schemas that the general execute call uses. */
function selectUsed(schemas: Record<string, object>): Record<string, object> {
  const used = new Set<string>();
  const visit = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(describeCallPaths()[EXECUTE_PATH]);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

/** Describes the general execute call, with the calls of the models as further schemas. */
function describeExecute(models: readonly string[]): object {
  const { post } = structuredClone(describeCallPaths()[EXECUTE_PATH]) as { post: ExecuteOperation };
  const [body, answer] = [post.requestBody, post.responses[200]].map((it) => it.content['application/json']);
  for (const [media, suffix] of [[body, 'Call'] as const, [answer, 'Rows'] as const]) {
    if (media === undefined) continue;
    const general = media.schema.oneOf ?? [media.schema];
    media.schema = { anyOf: [...models.map((model) => refer(`${model}.${suffix}`)), ...general] };
    delete media.examples;
  }
  return { post };
}

interface Media {
  content: Record<string, { schema: { oneOf?: object[]; anyOf?: object[] }; examples?: object }>;
}
interface ExecuteOperation {
  requestBody: Media;
  responses: { 200: Media };
}

function describeModel(
  model: string,
  fields: Record<string, unknown>,
  instance: string,
): Record<string, Schema> {
  const entries = Object.entries(fields).map(([name, field]) => [name, field as Field] as const);
  const names = entries.map(([name]) => name);
  const writable = entries.filter(([name, field]) => name !== 'id' && field.readonly !== true);
  const describe = (list: typeof entries, shape: (field: Field) => Schema) =>
    Object.fromEntries(list.map(([name, field]) => [name, describeField(field, shape)]));
  return {
    [model]: {
      type: 'object',
      description: `A record of \`${model}\` as \`read\` and \`search_read\` return it: with the fields that were asked for.`,
      properties: describe(entries, describeRead),
    },
    [`${model}.Values`]: {
      type: 'object',
      description: `Values of a record of \`${model}\` for \`create\` and \`write\`.`,
      properties: describe(writable, describeWritten),
    },
    [`${model}.Rows`]: {
      type: 'object',
      description: `The answer to \`read\` and \`search_read\` of \`${model}\`.`,
      required: ['jsonrpc', 'id', 'result'],
      properties: {
        jsonrpc: { const: '2.0' },
        id: { type: ['string', 'integer', 'null'] },
        result: { type: 'array', items: refer(model) },
      },
    },
    [`${model}.Call`]: describeCalls(model, names, instance),
  };
}

const IDS: Schema = { type: 'array', items: { type: 'integer' } };
const DOMAIN: Schema = { type: 'array', description: 'A search domain of Odoo.', items: {} };

function describeCalls(model: string, names: readonly string[], instance: string): Schema {
  const fields: Schema = { type: 'array', items: { enum: names } };
  const page = { limit: { type: 'integer' }, offset: { type: 'integer' }, order: { type: 'string' } };
  const values = refer(`${model}.Values`);
  const makeCall = (action: string, params: readonly Schema[], keyword: Schema = {}): Schema => ({
    type: 'object',
    title: action,
    required: ['action', 'model_id', 'params', 'erp_instance'],
    additionalProperties: false,
    properties: {
      id: { type: ['string', 'integer', 'null'] },
      action: { const: action },
      model_id: { const: model },
      params: { type: 'array', prefixItems: params, minItems: params.length },
      keyword: { type: 'object', properties: { ...keyword, context: { type: 'object' } } },
      erp_instance: { type: 'object', required: ['name'], properties: { name: { const: instance } } },
    },
  });
  return {
    description: `The usual calls of \`${model}\`. Its other public methods take the general call.`,
    oneOf: [
      makeCall('search_read', [DOMAIN], { fields, ...page }),
      makeCall('search', [DOMAIN], page),
      makeCall('search_count', [DOMAIN]),
      makeCall('read', [IDS], { fields }),
      makeCall('create', [{ anyOf: [values, { type: 'array', items: values }] }]),
      makeCall('write', [IDS, values]),
      makeCall('unlink', [IDS]),
    ],
  };
}

interface Field {
  type?: unknown;
  string?: unknown;
  help?: unknown;
  required?: unknown;
  readonly?: unknown;
  relation?: unknown;
  selection?: unknown;
}

function describeField(field: Field, shape: (field: Field) => Schema): Schema {
  const { string, help, required, readonly, relation } = field;
  return {
    ...shape(field),
    ...(typeof string === 'string' ? { title: string } : {}),
    ...(typeof help === 'string' && help !== '' ? { description: help } : {}),
    ...(readonly === true ? { readOnly: true } : {}),
    // Not `required` in the schema: the field may have a default value, so callers need not send it.
    ...(required === true ? { 'x-odoo-required': true } : {}),
    ...(typeof relation === 'string' ? { 'x-odoo-relation': relation } : {}),
  };
}

function describeRead(field: Field): Schema {
  switch (field.type) {
    case 'many2one':
      return orFalse(field, {
        type: 'array',
        prefixItems: [{ type: 'integer' }, { type: 'string' }],
        minItems: 2,
        maxItems: 2,
      });
    case 'one2many':
    case 'many2many':
      return IDS;
    default:
      return describePlain(field);
  }
}

function describeWritten(field: Field): Schema {
  switch (field.type) {
    case 'many2one':
      return orFalse(field, { type: 'integer' });
    case 'one2many':
    case 'many2many':
      return {
        type: 'array',
        description: 'Commands of Odoo, such as `[4, id]` or `[6, 0, ids]`.',
        items: {},
      };
    default:
      return describePlain(field);
  }
}

/** Describes a field that is not a relation. */
function describePlain(field: Field): Schema {
  switch (field.type) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
      return { type: 'integer' };
    case 'float':
    case 'monetary':
      return { type: 'number' };
    case 'many2one_reference':
      return orFalse(field, { type: 'integer' });
    case 'date':
      return orFalse(field, { type: 'string', format: 'date' });
    case 'datetime':
      return orFalse(field, { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$' });
    case 'selection':
      return orFalse(field, describeSelection(field.selection));
    case 'char':
    case 'text':
    case 'html':
    case 'binary':
    case 'image':
    case 'reference':
      return orFalse(field, { type: 'string' });
    default:
      return {};
  }
}

function describeSelection(selection: unknown): Schema {
  const values = Array.isArray(selection) ? selection.map((pair) => pair?.[0]) : [];
  return values.length > 0 ? { enum: [...new Set(values)] } : { type: 'string' };
}

/** Allows false, too, which Odoo returns for an empty value. */
function orFalse({ required }: Field, schema: Schema): Schema {
  return required === true ? schema : { anyOf: [schema, { const: false }] };
}

function refer(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}
