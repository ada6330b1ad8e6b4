/** Runs requests: the operations, each with its ordered list of steps. */
export { createRunRequest, type OperationName, type RunRequest } from './operations.ts';
