/** What tests and benchmarks of other packages use of this package. Code of the product does not import it. */
export { makeAdminAction, makeCall } from '../src/audit/audit.fixture.ts';
export { findVersion } from '../src/instances/instance-version.fixture.ts';
export { Cells } from '../src/statistics/cells.ts';
export { printPeriod, STEPS } from '../src/statistics/period.ts';
