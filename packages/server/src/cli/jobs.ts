/** `jobs …`: shows and cancels the jobs of clients. */
import { JOB_STATES, type JobView } from '@erp-proxy/contract';
import { type Command, showMembers } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, pickGiven, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<JobView>[] = [
  { heading: 'ID', show: ({ id }) => id },
  {
    heading: 'STATE',
    show: ({ state, cancel_requested, ended_at }) => showState(state, cancel_requested && ended_at === null),
  },
  { heading: 'ROUTE', show: ({ route }) => route },
  { heading: 'CALL', show: ({ model, action }) => `${model}.${action}` },
  { heading: 'ON', show: ({ instance }) => instance ?? '(own credentials)' },
  { heading: 'KEY', show: ({ key_id }) => key_id },
  { heading: 'RECORDS', show: ({ records }) => (records === null ? '' : String(records)) },
  { heading: 'BYTES', show: ({ bytes }) => String(bytes) },
  { heading: 'CREATED', show: ({ created_at }) => created_at },
  { heading: 'ENDED', show: ({ ended_at }) => ended_at ?? '' },
];

export const jobsCommands: readonly Command[] = [
  {
    name: 'jobs list',
    summary: 'List the jobs of clients, newest first.',
    options: {
      state: { choices: JOB_STATES, description: 'Jobs in this state. Default: all jobs that are kept.' },
      client: { value: 'id', description: 'Jobs of the client with this client_id.' },
      ...ADMIN_OPTIONS,
    },
    run(input) {
      const state = JOB_STATES.find((known) => known === input.option('state'));
      const client_id = input.option('client');
      return useAdmin(input, (admin) =>
        printList(
          input,
          listAll(admin.listClientJobs, pickGiven({ state, client_id })),
          COLUMNS,
          'No job matches.',
        ),
      );
    },
  },
  adminCommand({
    name: 'jobs show',
    arguments: ['<id>'],
    summary: 'Show a job, without its arguments and its result.',
    ask: (admin, id) => admin.getClientJob(id),
    show: (job) => showMembers(job, 16),
  }),
  adminCommand({
    name: 'jobs cancel',
    arguments: ['<id>'],
    summary: 'Cancel a job. A write that was sent goes on to its end.',
    ask: (admin, id) => admin.cancelClientJob(id),
    show: ({ id, ended_at, state }) =>
      ended_at === null ? `${id} is being cancelled.\n` : `${id} has ended: it is ${state}.\n`,
  }),
];

function showState(state: string, isBeingCancelled: boolean): string {
  return isBeingCancelled ? `${state}, being cancelled` : state;
}
