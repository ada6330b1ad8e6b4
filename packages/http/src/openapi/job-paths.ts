/** Describes the routes of jobs for the OpenAPI document, and the answer of a request that has become one. */
import { JOB_STATES, JOBS_PATH, type Job } from '@erp-proxy/contract';
import { z } from 'zod';
import { named, refer } from '../schema-registry.ts';
import { errorBody, failedAnswer } from './call-schemas.ts';

const time = z.iso.datetime();

const job = named(
  'Job',
  z.strictObject({
    id: z.string(),
    state: z
      .enum(JOB_STATES)
      .describe('`unknown`: the call was sent and then cut off, so that Odoo may have run it.'),
    created_at: time,
    ended_at: time.nullable(),
    expires_at: time.describe('When an ended job is removed, with its result.').exactOptional(),
    progress: z
      .strictObject({ bytes: z.int(), records: z.int().describe('For exports alone.').exactOptional() })
      .describe('What there is of the result so far.')
      .exactOptional(),
    cancel_requested: z
      .literal(true)
      .describe('The job was cancelled and has not ended yet.')
      .exactOptional(),
    error: errorBody.describe('Why there is no result.').exactOptional(),
    result_url: z.string().describe('Where the answer of the call is.').exactOptional(),
  }) satisfies z.ZodType<Job>,
);

const EXAMPLE: Job = {
  id: '6e1c2f1e-95a5-4e0e-8a2c-0d6f2f0c3b52',
  state: 'queued',
  created_at: '2026-12-01T09:30:00.000Z',
  ended_at: null,
};

const JOB_CONTENT = { 'application/json': { schema: refer(job), example: EXAMPLE } };

/** The answer to a request with `prefer: respond-async`. */
export const DEFERRED_ANSWER = {
  description: 'With `prefer: respond-async`: the request was stored, and runs as a job (docs/jobs.md).',
  headers: {
    location: { description: 'The path of the job.', schema: { type: 'string' } },
    'preference-applied': { description: '`respond-async`', schema: { type: 'string' } },
  },
  content: JOB_CONTENT,
};

export function describeJobPaths(errors: Record<string, object>): Record<string, object> {
  const shared = {
    tags: ['jobs'],
    security: [{ clientKey: [] }, { clientToken: [] }],
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
  };
  const missing = {
    404: {
      description: 'The client has no such job, or the job has no result.',
      content: { 'application/json': { schema: refer(failedAnswer) } },
    },
  };
  const describe = (operationId: string, summary: string, answer: object) => ({
    operationId,
    summary,
    ...shared,
    responses: { 200: answer, ...errors, ...missing },
  });
  const shown = { description: 'The job.', content: JOB_CONTENT };
  return {
    [`${JOBS_PATH}/{id}`]: {
      get: describe('getJob', 'Returns the state of a job of the client (docs/jobs.md).', shown),
      delete: describe('cancelJob', 'Cancels a job of the client (docs/jobs.md).', shown),
    },
    [`${JOBS_PATH}/{id}/result`]: {
      get: describe('getJobResult', 'Returns the answer of the call that a job has run (docs/jobs.md).', {
        description:
          'The answer, with the status, the type and the bytes that a waiting caller would have got.',
        content: { 'application/json': {}, 'application/x-ndjson': {}, 'text/csv': {} },
      }),
    },
  };
}
