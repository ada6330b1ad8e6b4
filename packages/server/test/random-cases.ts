/**
 * How many cases of a property test run. `npm test` runs few, so that it is quick; `npm run test:long` runs many, with
 * `TEST_LONG`. fast-check prints the seed of a failure.
 */
const SHARE = process.env['TEST_LONG'] === undefined ? 0.1 : 5;
/** Fewer cases than this find little. */
const LEAST = 20;

/** The number of cases for a test that is worth `usual` cases. */
export function countCases(usual: number): number {
  return Math.max(Math.min(usual, LEAST), Math.round(usual * SHARE));
}
