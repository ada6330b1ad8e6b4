/**
 * Schemas of calls and their answers, for the OpenAPI document only. packages/gateway/src/call/parse.ts parses calls.
 */
import {
  BATCH_CALLS_MAX,
  BUSINESS_ERRORS,
  type ErrorBody,
  type ExecuteAnswer,
  type ExecuteCall,
  ID_LENGTH_MAX,
  type Json,
  PROXY_ERRORS,
} from '@erp-proxy/contract';
import { z } from 'zod';
import { named } from '../schema-registry.ts';

export const json = z.custom<Json>(() => true);

export const context = z
  .object({
    allowed_company_ids: z.array(z.int()).exactOptional(),
    default_company_id: z.int().exactOptional(),
    tz: z.string().describe('The IANA name of a time zone.').exactOptional(),
  })
  .catchall(json)
  .describe("Odoo's context.");

const ownInstance = z.strictObject({
  url: z.string().describe('An http or https address, which may have a path prefix.'),
  db: z.string(),
  user_id: z.int(),
  api_key: z.string().meta({ writeOnly: true }),
});

export const erpInstance = z
  .union([ownInstance, z.strictObject({ name: z.string().describe('An instance stored in the proxy.') })])
  .describe('The Odoo server, database and user that the call runs on.');

export const callId = z
  .union([z.string().max(ID_LENGTH_MAX), z.int()])
  .nullable()
  .describe('Returned in the answer.');

export const limit = z
  .union([z.int().min(0), z.literal(false)])
  .nullable()
  .describe('Maximum number of records.');

export const modelId = z.string().regex(/^[A-Za-z0-9_.]+$/);

export const executeCall = named(
  'ExecuteCall',
  z.strictObject({
    id: callId.exactOptional(),
    action: z.string().describe('A public method of the model, or `call_method` with `fn_name`.'),
    model_id: modelId,
    fn_name: z.string().nullable().exactOptional(),
    params: z.array(json).nullable().describe('Positional arguments of `execute_kw`.').exactOptional(),
    keyword: z
      .looseObject({
        limit: limit.exactOptional(),
        ids: z
          .union([z.int(), z.array(z.int())])
          .nullable()
          .describe('Ids of the records, if `params` is empty. Null: the method takes none.')
          .exactOptional(),
        context: context.exactOptional(),
      })
      .nullable()
      .describe('Named arguments.')
      .exactOptional(),
    erp_instance: erpInstance,
  }) satisfies z.ZodType<ExecuteCall>,
);

export const executeBatch = named('ExecuteBatch', z.array(executeCall).min(1).max(BATCH_CALLS_MAX));

const id = z.union([z.string(), z.int()]).nullable();

export const errorBody = named(
  'Error',
  z.object({
    code: z.int(),
    message: z.string().describe('The cause, and what to do.'),
    data: z.looseObject({
      type: z
        .enum([...Object.keys(PROXY_ERRORS), ...Object.keys(BUSINESS_ERRORS)])
        .describe('The type of the error, which programs should evaluate.'),
      retryable: z.boolean().describe('True only if the same call may be sent again unchanged.'),
      path: z.string().describe('The path of the faulty member.').exactOptional(),
      rule: z.string().describe('With `policy_denied`: the rule that denied the call.').exactOptional(),
      outcome: z
        .enum(['not_sent', 'rolled_back', 'unknown'])
        .describe('If there was no answer: whether a write may have happened.')
        .exactOptional(),
      nearest: z
        .array(z.string())
        .max(5)
        .describe('If a field, model or method does not exist: similar names that do, the nearest first.')
        .exactOptional(),
    }),
  }) satisfies z.ZodType<ErrorBody>,
);

const envelope = { jsonrpc: z.literal('2.0'), id };

export const failedAnswer = named('FailedAnswer', z.object({ ...envelope, error: errorBody }));

export const executeAnswer = named(
  'ExecuteAnswer',
  z.union([
    z.object({ ...envelope, result: json.describe('The result, unchanged from Odoo.') }),
    failedAnswer,
  ]) satisfies z.ZodType<ExecuteAnswer>,
);

export const batchAnswer = named('BatchAnswer', z.array(executeAnswer));

export const versionQuestion = named(
  'VersionQuestion',
  z.strictObject({ id: id.exactOptional(), url: z.string() }),
);

export const versionAnswer = named(
  'VersionAnswer',
  z.object({
    ...envelope,
    result: z.object({
      server_version: z.string(),
      server_version_info: z.array(z.union([z.int(), z.string()])),
      server_serie: z.string(),
      protocol_version: z.int(),
    }),
  }),
);
