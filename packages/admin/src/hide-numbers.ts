/**
 * Replaces numbers that count the rows of the whole proxy by others, for operators who are limited to some of the
 * instances: a number would tell how many rows of others there are. Pure.
 */
import { createHmac, type KeyObject } from 'node:crypto';
import type { HiddenNumbers } from '@erp-proxy/control/audit';

const HALF = 2 ** 24;
/** Four rounds of a Feistel network are a permutation that nobody without the key can tell from a random one. */
const ROUNDS = 4;

/** Numbers from 0 to 2^48 - 1. `kind` separates numbers of different things. */
export function createHiddenNumbers(key: KeyObject, kind: string): HiddenNumbers {
  const mix = (round: number, half: number) =>
    createHmac('sha256', key).update(`${kind} ${round} ${half}`).digest().readUIntBE(0, 3);

  return {
    hide(number) {
      let [left, right] = split(number);
      for (let round = 0; round < ROUNDS; round++) [left, right] = [right, left ^ mix(round, right)];
      return left * HALF + right;
    },
    open(hidden) {
      let [left, right] = split(hidden);
      for (let round = ROUNDS - 1; round >= 0; round--) [left, right] = [right ^ mix(round, left), left];
      return left * HALF + right;
    },
  };
}

/** Numbers beyond 2^48, which hide nothing, open to an arbitrary one. */
function split(number: number): [number, number] {
  return [Math.floor(number / HALF) % HALF, number % HALF];
}
