/** What tests and benchmarks of other packages use of this package. Code of the product does not import it. */
export { createSessions } from '../src/admin/session.ts';
export { BodyBudget, BodyCollector } from '../src/body.ts';
export { CALL_ROUTES } from '../src/call-routes.ts';
export { MULTI_CALL_ROUTES } from '../src/multi-call-routes.ts';
export { NodeExchange } from '../src/node-exchange.ts';
export { OverloadAnswer } from '../src/overload-answer.ts';
export { PlainExchange } from '../src/plain-exchange.ts';
export { WELL_KNOWN } from '../src/protected-resource.ts';
export { ManualLoadShedder } from '../src/shedding/manual-load-shedder.fixture.ts';
