/**
 * Schemas and examples of the routes that move data, for the OpenAPI document only. The parts of packages/data/src/
 * parse their bodies.
 */
import type { ExportCall } from '@erp-proxy/contract';
import { z } from 'zod';
import { named } from '../schema-registry.ts';
import { callId, context, erpInstance, executeCall, json, limit, modelId } from './call-schemas.ts';

export const exportCall = named(
  'ExportCall',
  z.strictObject({
    id: callId.describe('Returned in an error.').exactOptional(),
    model_id: modelId,
    domain: z
      .array(json)
      .nullable()
      .describe('Conditions, as in Odoo. Default: all records.')
      .exactOptional(),
    fields: z.array(z.string()).min(1).describe('Fields of the model, each once. `id` is always exported.'),
    context: context.nullable().exactOptional(),
    limit: limit.describe('Maximum number of records of the whole export.').exactOptional(),
    after: z
      .int()
      .nullable()
      .describe('The id of the last record that was taken, to go on behind it.')
      .exactOptional(),
    format: z.enum(['ndjson', 'csv']).nullable().describe('Default: `ndjson`.').exactOptional(),
    bom: z
      .boolean()
      .nullable()
      .describe('With CSV: a byte order mark precedes it, by which spreadsheets see that it is UTF-8.')
      .exactOptional(),
    delimiter: z
      .enum([',', ';', '\t', '|'])
      .nullable()
      .describe('With CSV. Default: a comma.')
      .exactOptional(),
    escape_formulas: z
      .boolean()
      .nullable()
      .describe("With CSV: `'` precedes a text that spreadsheets would run as a formula. Default: true.")
      .exactOptional(),
    erp_instance: erpInstance,
  }) satisfies z.ZodType<ExportCall>,
);

const recordId = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

export const documentCall = named(
  'DocumentCall',
  z.strictObject({
    id: callId.describe('Returned in an error.').exactOptional(),
    model_id: modelId,
    record: recordId.nullable().describe('The record whose document is returned as PDF.').exactOptional(),
    records: z
      .array(recordId)
      .min(1)
      .max(50)
      .nullable()
      .describe('In place of `record`: the records whose documents are returned as one ZIP archive.')
      .exactOptional(),
    report: z
      .string()
      .max(256)
      .nullable()
      .describe('Xmlid or name of a report. Default: the first one that Odoo offers for the model.')
      .exactOptional(),
    lang: z
      .string()
      .nullable()
      .describe('Code of a language that is installed in Odoo. Reports may choose another one.')
      .exactOptional(),
    erp_instance: erpInstance,
  }),
);

export const exportAnswer = named(
  'ExportAnswer',
  z
    .string()
    .describe('One record in each line, as a JSON object with `id` and the fields, the lowest id first.'),
);

/**
 * The request, and the answer of Odoo 18 with the data of the sandbox.
 * packages/server/test/openapi/data-examples.test.ts runs it.
 */
export const EXPORT_EXAMPLE = {
  body: {
    model_id: 'res.partner',
    domain: [['is_company', '=', true]],
    fields: ['name', 'country_id'],
    limit: 2,
    erp_instance: { name: 'prod' },
  } satisfies ExportCall,
  answer: [
    '{"id": 1, "name": "YourCompany", "country_id": [233, "United States"]}\n',
    '{"id": 9, "name": "Wood Corner", "country_id": [233, "United States"]}\n',
  ].join(''),
};

export const fleetCall = named(
  'FleetCall',
  z
    .strictObject({
      call: executeCall
        .omit({ erp_instance: true })
        .describe('The call that each instance gets: as an execute call, without `erp_instance`.'),
      instances: z
        .array(z.string())
        .min(1)
        .max(100)
        .describe('Names of instances, in which `*` stands for any text. This or `tags`.')
        .exactOptional(),
      tags: z
        .array(z.string())
        .min(1)
        .max(100)
        .describe('Tags: the instances that have at least one of them. This or `instances`.')
        .exactOptional(),
      concurrency: z
        .int()
        .min(1)
        .max(1000)
        .nullable()
        .describe('Number of instances to call at once.')
        .exactOptional(),
    })
    .describe('One call on many instances.'),
);

export const fleetAnswer = named(
  'FleetAnswer',
  z
    .string()
    .describe(
      'One JSON object in each line: `instance` with `result` or `error`, in the order in which they answer. The last line has the numbers `done`, `failed` and `skipped`.',
    ),
);

/**
 * The request, and the answer of Odoo 18 with the data of the sandbox.
 * packages/server/test/openapi/data-examples.test.ts runs it.
 */
export const FLEET_EXAMPLE = {
  body: {
    call: { action: 'search_count', model_id: 'res.partner', params: [[['is_company', '=', true]]] },
    instances: ['prod*'],
  },
  answer: ['{"instance":"prod","result":13}\n', '{"done":1,"failed":0,"skipped":0}\n'].join(''),
};
