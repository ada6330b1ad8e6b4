/** The operations of an administrator on the jobs of clients. They show neither arguments nor results. */
import { type JobView, tryParse } from '@erp-proxy/contract';
import type { JobRow } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import type { Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import type { DescribeAction } from './audited-actions.ts';
import { readPage } from './page.ts';
import { showTime, showTimeOrNull } from './time.ts';

type JobAdmin = Pick<Admin, 'listClientJobs' | 'getClientJob' | 'cancelClientJob'>;

/** Position of a job in the list, which the store sorts by age. */
const PLACE = z.tuple([z.int(), z.string().regex(/^[\w-]+$/)]);

export function createJobAdmin({ jobs }: Pick<AdminDeps, 'jobs'>, describeAction: DescribeAction): JobAdmin {
  async function find(id: string): Promise<JobRow> {
    const row = await jobs.find(id);
    if (row === null) throw createAdminError(404, `There is no job ${JSON.stringify(id)}.`);
    return row;
  }

  return {
    listClientJobs({ state, client_id: client, ...page }) {
      return readPage(page, {
        place: PLACE,
        placeOf: ({ createdAt, id }): z.infer<typeof PLACE> => [createdAt, id],
        list: (place, limit) =>
          jobs.list({ state, client, limit, after: place && { createdAt: place[0], id: place[1] } }),
        show,
      });
    },

    getClientJob: async (id) => show(await find(id)),

    async cancelClientJob(id) {
      const row = await find(id);
      if (row.isCancelled || row.endedAt !== null) return show(row);
      const { instance } = readFacts(row);
      const changes = { cancel_requested: { from: false, to: true } };
      const auditBatch = describeAction(
        'job.cancel',
        `job ${id}`,
        changes,
        instance === null ? null : [instance],
      );
      return show((await jobs.cancel(id, auditBatch)) ?? row);
    },
  };
}

/** The instance of a job; null: its call brought its own credentials. */
export function readInstanceOfJob(row: JobRow): string | null {
  return readFacts(row).instance;
}

type Facts = Pick<JobView, 'instance' | 'model' | 'action'>;

function readFacts({ facts }: JobRow): Facts {
  return tryParse(facts) as Facts;
}

function show(row: JobRow): JobView {
  const { instance, model, action } = readFacts(row);
  return {
    id: row.id,
    state: row.state,
    client_id: row.client,
    key_id: row.key,
    request_id: row.requestId,
    route: row.route,
    instance,
    model,
    action,
    created_at: showTime(row.createdAt),
    started_at: showTimeOrNull(row.startedAt),
    ended_at: showTimeOrNull(row.endedAt),
    cancel_requested: row.isCancelled,
    records: row.records,
    bytes: row.bytes,
    status: row.status,
  };
}
