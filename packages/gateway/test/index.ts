/** What tests and benchmarks of other packages use of this package. Code of the product does not import it. */
export { checkRelatedCall } from '../src/call/check-related.ts';
export { type Call, parseBody, parseCall } from '../src/call/parse.ts';
export { describeCall, describeRequest } from '../src/call/policy-request.ts';
export { createOperations, type OperationDeps } from '../src/operations.ts';
export { runInThread } from '../src/thread/run-in-thread.ts';
export { CheckedStream, ReplacedStream } from '../src/upstream/non-number-stream.ts';
