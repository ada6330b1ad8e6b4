/**
 * How many cases of a property test run. `npm test` runs few, so that it is quick; `npm run test:long` runs many, with
 * `TEST_LONG`. fast-check prints the seed of a failure.
 */
export const IS_LONG = process.env['TEST_LONG'] !== undefined;
const SHARE = IS_LONG ? 5 : 0.1;
/** A smaller number of cases finds little. */
const LEAST = 20;

/** The number of cases for a test that is worth `usual` cases. */
export function countCases(usual: number): number {
  return Math.max(Math.min(usual, LEAST), Math.round(usual * SHARE));
}

/** The number of rounds for a test that kills processes at random moments. */
export function countRounds(few: number): number {
  return IS_LONG ? 10 * few : few;
}
