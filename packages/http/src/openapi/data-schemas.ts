/**
 * Schemas and examples of the routes that move data, for the OpenAPI document only. The parts of packages/data/src/
 * parse their bodies.
 */
import type { ExportCall } from '@erp-proxy/contract';
import { z } from 'zod';
import { named } from '../schema-registry.ts';
import { callId, context, erpInstance, json, limit, modelId } from './call-schemas.ts';

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
