/** Jobs of clients, as administrators see them: without arguments and results. */
import { z } from 'zod';
import { JOB_STATES } from '../jobs.ts';
import { named, PAGE_QUERY, pageOf, time } from './schema-names.ts';

const jobState = z.enum(JOB_STATES);

export const jobView = named(
  'AdminJob',
  z.object({
    id: z.string(),
    state: jobState.describe(
      '`unknown`: a write was sent, and its answer did not arrive. `failed`: the call was refused, or Odoo answered an error.',
    ),
    client_id: z.string().describe('The client that asked, which alone gets the result.'),
    key_id: z.string().describe('The client key that asked.'),
    request_id: z.string().describe('Id of the request that asked for the job. The audit has it, too.'),
    route: z.string().describe('The route that runs the job, `execute`, `export` or `document`.'),
    instance: z.string().nullable().describe('Null: the call brought its own credentials.'),
    model: z.string(),
    action: z.string(),
    created_at: time,
    started_at: time.nullable().describe('When it ran for the first time.'),
    ended_at: time.nullable(),
    cancel_requested: z.boolean().describe('True: it was cancelled. A job that runs ends later.'),
    records: z.int().nullable().describe('Records of an export so far. Some seconds old.'),
    bytes: z.int().describe('Bytes of the result so far. Some seconds old.'),
    status: z.int().nullable().describe('HTTP status of the result; null: there is none.'),
  }),
);
export type JobView = z.infer<typeof jobView>;

export const jobPage = named('AdminJobPage', pageOf(jobView));

export const jobQuery = z.strictObject({
  ...PAGE_QUERY,
  state: jobState.exactOptional(),
  client_id: z.string().describe('Only jobs of this client.').exactOptional(),
});
export type JobQuery = z.infer<typeof jobQuery>;
