/** When work runs: waits with time limits, single flight, queues, periodic tasks, pauses for other work. */
export { atMost } from './at-most.ts';
export { type BatchedWrites, createBatchedWrites } from './batched-writes.ts';
export { createPauses } from './create-pauses.ts';
export { type Indexed, IndexedSet } from './indexed-set.ts';
export { type PeriodicTask, startPeriodicTask } from './periodic-task.ts';
export { SerialQueue } from './serial-queue.ts';
export { type Kept, SingleFlight, SingleFlightCache } from './single-flight.ts';
export { SlicedTasks } from './sliced-tasks.ts';
export { ABORTED, delay, TIMED_OUT, waitFor } from './wait.ts';
