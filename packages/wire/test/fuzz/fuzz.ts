/**
 * A fuzzer that is guided by coverage: it changes inputs at random, and keeps those by which a target runs a block, or
 * behaves in a way, that no input before did. The same seed and number of cases give the same inputs. Knows no target.
 */
import type { Coverage } from './coverage.ts';
import { mutate, type Random } from './mutate.ts';

export interface FuzzTarget {
  name: string;
  /** The first inputs, in Latin-1. */
  seeds: readonly string[];
  /** Words of the language that the target reads. */
  words: readonly string[];
  /** Returns how it behaved, in a few words, for what coverage does not show. Throws if the behaviour is wrong. */
  run(input: Buffer): readonly string[] | Promise<readonly string[]>;
}

export interface FuzzOptions {
  coverage: Coverage;
  random: Random;
  /** Inputs of earlier runs. */
  corpus: readonly Buffer[];
  /** Asked after each batch. */
  mayContinue: (cases: number) => boolean;
}

export interface FuzzResult {
  cases: number;
  /** Blocks and behaviours that were seen. */
  features: number;
  /** Few inputs that show them all. */
  corpus: Buffer[];
  /** The first wrong behaviour, with an input that shows it. */
  failure: { input: Buffer; error: unknown } | null;
}

/** The coverage is read after so many cases. It costs more than most of them. */
const BATCH = 64;
/** Tries to make a failing input shorter. */
const SHORTENINGS_MAX = 2000;

export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzResult> {
  const { coverage, random, mayContinue } = options;
  const seen = new Set<string>();
  const kept: Buffer[] = [];
  let cases = 0;

  /** Runs inputs, and returns what they showed that no kept input did. */
  async function runAll(inputs: readonly Buffer[]): Promise<string[]> {
    const features = new Set<string>();
    for (const input of inputs) {
      cases++;
      try {
        for (const feature of await target.run(input)) features.add(feature);
      } catch (error) {
        throw new Failed(input, error);
      }
    }
    for (const block of coverage.take()) features.add(block);
    return [...features].filter((feature) => !seen.has(feature));
  }

  async function keepIfNew(input: Buffer): Promise<void> {
    const features = await runAll([input]);
    if (features.length === 0) return;
    for (const feature of features) seen.add(feature);
    kept.push(input);
  }

  try {
    const given = [...target.seeds.map((seed) => Buffer.from(seed, 'latin1')), ...options.corpus];
    // What runs once, such as loading and compiling, is no feature of an input.
    await runAll(given);
    for (const input of given.toSorted((one, other) => one.length - other.length)) await keepIfNew(input);
    while (mayContinue(cases)) {
      const pick = () => kept[Math.floor(random() ** 0.5 * kept.length)] as Buffer;
      const inputs = Array.from({ length: BATCH }, () => mutate(pick(), pick(), target.words, random));
      if ((await runAll(inputs)).length > 0) for (const input of inputs) await keepIfNew(input);
    }
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    const failure = await shorten(target, error);
    return { cases, features: seen.size, corpus: kept, failure };
  }
  return { cases, features: seen.size, corpus: kept, failure: null };
}

class Failed extends Error {
  readonly input: Buffer;

  constructor(input: Buffer, cause: unknown) {
    super('the target failed', { cause });
    this.input = input;
  }
}

/** Removes parts of a failing input as long as it fails. */
async function shorten(target: FuzzTarget, { input, cause }: Failed): Promise<FuzzResult['failure']> {
  let shortest = { input, error: cause };
  let left = SHORTENINGS_MAX;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.input.length && left > 0; left--) {
      const shorter = Buffer.concat([shortest.input.subarray(0, at), shortest.input.subarray(at + size)]);
      try {
        await target.run(shorter);
        at += size;
      } catch (error) {
        shortest = { input: shorter, error };
      }
    }
  }
  return shortest;
}
