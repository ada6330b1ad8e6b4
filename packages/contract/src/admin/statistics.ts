/** Counts of calls over time. */
import { z } from 'zod';
import { named, time } from './schema-names.ts';
import { STATISTICS_DIMENSIONS } from './values.ts';

const quantiles = z.object({ p50: z.number(), p95: z.number(), p99: z.number() });
/** Milliseconds. */
export type DurationQuantiles = z.infer<typeof quantiles>;

const callStatistics = z.object({
  calls: z.int().describe('Calls, and requests that were refused before they were calls.'),
  errors: z.record(z.string(), z.int()).describe('Calls by type of the error.'),
  refused: z.int().describe('Refused for lack of capacity, or over a limit of the key.'),
  shared: z.int().describe('Reads that an equal read answered.'),
  replayed: z.int().describe('Answered from an idempotency key.'),
  proxy_ms: quantiles.nullable().describe('Time of the proxy itself.'),
  odoo_ms: quantiles.nullable().describe("Time from sending a call to the head of Odoo's answer."),
});
/** Counts of calls, and their durations in milliseconds; a duration is null if there are no calls. */
export type CallStatistics = z.infer<typeof callStatistics>;

const NOT_LIMITED = 'Null for who is limited to some of the instances.';

export const statisticsView = named(
  'Statistics',
  z.object({
    since: time,
    until: time,
    step: z.enum(['minute', 'hour']),
    total: callStatistics,
    periods: z
      .array(
        callStatistics.extend({
          at: time,
          in_flight_max: z
            .int()
            .nullable()
            .describe(`The most requests at once, added up over processes. ${NOT_LIMITED}`),
          queued_max: z.int().nullable().describe(`The most calls that waited for Odoo. ${NOT_LIMITED}`),
        }),
      )
      .describe('Periods in which there were calls.'),
    groups: z
      .array(
        callStatistics.extend({
          name: z.string().nullable().describe('Null: calls without one, or whose names are not kept apart.'),
        }),
      )
      .describe('Empty without `by`.'),
    now: z
      .object({ in_flight: z.int(), queued: z.int() })
      .nullable()
      .describe(`In progress in the process that answers. ${NOT_LIMITED}`),
  }),
);
export type StatisticsView = z.infer<typeof statisticsView>;

export const statisticsQuery = z.strictObject({
  since: time.describe('A time or a day. Default: an hour before `until`.').exactOptional(),
  until: time.describe('A time or a day. Default: now.').exactOptional(),
  step: z
    .enum(['minute', 'hour'])
    .describe(
      'Length of the periods: minutes are kept for a day, hours for 30 days. Default: minutes up to six hours, hours beyond.',
    )
    .exactOptional(),
  by: z.enum(STATISTICS_DIMENSIONS).describe('Groups the calls by this.').exactOptional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1000)
    .describe('Maximum number of groups, those with the most calls. Default: 20.')
    .exactOptional(),
  instance: z.string().describe('A stored instance, or the address of a server.').exactOptional(),
  key: z.string().describe('The id of a client.').exactOptional(),
  model: z.string().exactOptional(),
  action: z.string().exactOptional(),
});
export type StatisticsFilters = z.infer<typeof statisticsQuery>;
