/**
 * Tests that whatever transactions do, a copy that is kept with readChanges equals the table once they have ended, and
 * no version of a record is given twice. Transactions overlap, last up to the overlap, and end in any order; many share
 * a second; records are archived, leave the domain and are deleted; stored fields of other records are computed again;
 * other callers commit between the calls of one answer; each state is read from JSON, as after a restart.
 */
import { type Sandbox, type SandboxTransaction, startSandbox } from '@erp-proxy/sandbox';
import { afterAll, expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';
import { createRandom } from '../seeded-random.ts';
import { askSandbox, Follower } from './follow.ts';

/** Number of answers in a run. A run begins with an empty copy. */
const ROUNDS = 30;
const RUNS = Math.ceil(countCases(100) / ROUNDS);
/** The overlap is longer than the time between two answers, which is a requirement where clocks jump. */
const OVERLAP_SECONDS = 600;
const FIELDS = ['name', 'ref', 'complete_name'];
const DOMAIN = '[["ref","!=","out"]]';

const sandbox = await startSandbox({ version: 18, keepAlive: true });
afterAll(() => sandbox.close());

interface Open {
  transaction: SandboxTransaction;
  startedMs: number;
}

/** Makes random transactions. Each write gives a record a name that it has not had before. */
class World {
  readonly #sandbox: Sandbox;
  readonly random: () => number;
  nowMs = Date.UTC(2026, 10, 25, 12);
  /** Whether the clock may jump before the next answer. */
  mayJump = false;
  readonly #open: Open[] = [];
  readonly #ids: number[] = [];
  readonly #parents = new Set<number>();
  #writes = 0;
  #hasEnded = false;

  constructor(sandbox: Sandbox, random: () => number) {
    this.#sandbox = sandbox;
    this.random = random;
    sandbox.setClock(() => this.nowMs);
  }

  pick(max: number): number {
    return Math.floor(this.random() * max);
  }

  /** Most steps take fractions of a second, so that many changes have the same time. */
  step(): void {
    if (this.#hasEnded) return;
    this.nowMs += [0, 0.001, 40, 300, 900, 5000, 40_000][this.pick(7)] as number;
    // A jump ahead lengthens open transactions, so they are ended first.
    if (this.mayJump) {
      this.#endOpen();
      this.nowMs += [3_600_000, 7_200_000, -3_600_000, -7_200_000, -90_000][this.pick(5)] as number;
      this.mayJump = false;
    }
    for (const open of [...this.#open])
      if (this.nowMs - open.startedMs > (OVERLAP_SECONDS - 1) * 1000) this.#end(open);
    const choice = this.pick(10);
    if (choice < 3 && this.#open.length < 6)
      this.#open.push({ transaction: this.#sandbox.begin(), startedMs: this.nowMs });
    else if (choice < 8) this.#change();
    else this.#end(this.#open[this.pick(this.#open.length)]);
  }

  endAll(): void {
    this.#hasEnded = true;
    this.#endOpen();
  }

  #endOpen(): void {
    for (const open of [...this.#open]) this.#end(open);
  }

  #end(open: Open | undefined): void {
    if (open === undefined) return;
    this.#open.splice(this.#open.indexOf(open), 1);
    if (this.pick(8) === 0) open.transaction.rollback();
    else open.transaction.commit();
  }

  #change(): void {
    const open = this.#open[this.pick(this.#open.length)];
    const transaction = open?.transaction ?? this.#sandbox.begin();
    const name = `Version ${++this.#writes}`;
    const id = this.#ids[this.pick(this.#ids.length)];
    const choice = this.pick(10);
    try {
      if (id === undefined || choice < 3) {
        if (id !== undefined && choice === 1) this.#parents.add(id);
        const count = choice === 0 ? 1 + this.pick(30) : 1;
        for (let at = 0; at < count; at++)
          this.#ids.push(
            transaction.create('res.partner', {
              name: `${name}.${at}`,
              ref: 'in',
              // A name of the parent is part of a stored field of its children.
              ...(id !== undefined && choice === 1 && { parent_id: id }),
            }),
          );
      } else if (choice < 8) transaction.write('res.partner', id, { name, ref: choice < 6 ? 'in' : 'out' });
      else if (choice === 8) transaction.write('res.partner', id, { name, active: this.pick(2) === 0 });
      // Deleting a parent clears the field of its children without a new time. No caller can notice that, so parents
      // are kept.
      else if (!this.#parents.has(id)) transaction.unlink('res.partner', id);
    } catch {
      // Another transaction has changed the row, or the record was deleted.
    }
    if (open === undefined) transaction.commit();
  }

  /** The records that a caller should have. */
  async readTruth(): Promise<Map<number, unknown>> {
    const asked = await askSandbox(this.#sandbox)({
      method: 'search_read',
      params: `[${DOMAIN}]`,
      keyword: { fields: JSON.stringify(FIELDS), context: '{"active_test":false}', order: '"id"' },
    });
    if (!('result' in asked)) throw new Error(asked.failure);
    const rows = JSON.parse(asked.result.toString()) as { id: number }[];
    return new Map(rows.map((row) => [row.id, row]));
  }
}

interface FollowOptions {
  hasDate: boolean;
  pageMax: number;
  rounds: number;
  hasJumps?: boolean;
  /** Makes one of this number of records visible; the others are dropped after the search. */
  visibleOf?: number;
}

async function follow(seed: number, options: FollowOptions): Promise<void> {
  sandbox.reset();
  const world = new World(sandbox, createRandom(seed));
  const { visibleOf = 1 } = options;
  // The pattern is irregular, so that several records in succession are dropped too.
  const isVisible = (id: number) => (Math.imul(id, 0x9e3779b1) >>> 16) % visibleOf === 0;
  const ask = askSandbox(sandbox, {
    hasDate: options.hasDate,
    isVisible,
    onCall: () => world.pick(4) === 0 && world.step(),
  });
  const follower = new Follower(ask, { domain: DOMAIN, fields: FIELDS, dropsRecords: visibleOf > 1 });
  const bounds = { overlapSeconds: OVERLAP_SECONDS, pageMax: options.pageMax };
  for (let round = 0; round < options.rounds; round++) {
    world.mayJump = options.hasJumps === true && world.pick(4) === 0;
    for (let steps = world.pick(12); steps > 0; steps--) world.step();
    await follower.read({ ...bounds, changesMax: 1 + world.pick(40) });
  }
  world.mayJump = false;
  world.endAll();
  await follower.readAll(bounds);
  world.nowMs += OVERLAP_SECONDS * 1000;
  await follower.readAll(bounds);
  await follower.dropGone();
  const description = `seed ${seed} ${JSON.stringify(options)}`;
  const byId = (copy: Map<number, unknown>) => [...copy].sort(([one], [other]) => one - other);
  expect(byId(follower.copy), description).toEqual(
    byId(await world.readTruth()).filter(([id]) => isVisible(id)),
  );
  // After a jump of the clock, versions may be given again.
  if (options.hasJumps) return;
  const versions = follower.given.map(({ change, id, at, record }) =>
    [change, id, at, record && Buffer.from(record).toString()].join(' '),
  );
  expect(versions.length - new Set(versions).size, description).toBe(0);
}

test.each([
  { hasDate: true, pageMax: 1000 },
  { hasDate: true, pageMax: 9 },
  { hasDate: false, pageMax: 50 },
  { hasDate: true, pageMax: 9, visibleOf: 5 },
])('a copy equals the table, and nothing is given twice: %o', async (options) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`seed ${seed}\n`);
  for (let run = 0; run < RUNS; run++) await follow(seed + run, { ...options, rounds: ROUNDS });
});

test('a record that changes within a second, between the scan before the copy and the copy, is given once', async () => {
  await follow(978_571, { hasDate: true, pageMax: 9, rounds: ROUNDS });
});

test('a copy equals the table although the clock of the server jumps', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`seed ${seed}\n`);
  for (let run = 0; run < RUNS; run++)
    await follow(seed + run, { hasDate: true, pageMax: 20, rounds: ROUNDS, hasJumps: true });
});
