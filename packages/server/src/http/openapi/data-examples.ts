/**
 * Examples of the routes that move data, for the OpenAPI document: the request, and the answer of Odoo 18 with the data
 * of the sandbox. packages/server/test/openapi/data-examples.test.ts runs each of them.
 */
import type { ExportCall } from '@erp-proxy/contract';

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
