/** Jobs: calls whose caller does not wait. */
export { createJobs, type JobRequests, type Jobs } from './jobs.ts';
export { createJobWorker, JOB_TIMES, type JobTimes, type JobWorker } from './worker.ts';
