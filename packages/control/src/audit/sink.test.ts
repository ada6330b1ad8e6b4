import { mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditRow, Store } from '@erp-proxy/stores/ports';
import { CHAIN_KEY, makeBatch, openMemoryStore } from '@erp-proxy/stores/testing';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { countCases } from '../../../server/test/random-cases.ts';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { makeCall } from './audit.fixture.ts';
import { compareSink } from './compare.ts';
import { createFileTarget } from './file-target.ts';
import { printCall } from './record.ts';
import { type AuditSink, type AuditTarget, createAuditSink } from './sink.ts';

function makeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-sink-'));
  closeAfterTest({ close: () => rmSync(folder, { recursive: true }) });
  return join(folder, 'audit.ndjson');
}

async function append(store: Store, count: number): Promise<void> {
  const seq = (await store.audit.readHead())?.seq ?? 0;
  const rows = Array.from({ length: count }, (_, index) => ({
    at: seq + index + 1,
    record: printCall(makeCall({ requestId: `request-${seq + index + 1}` }), seq + index + 1),
  }));
  await store.audit.append(makeBatch(...rows));
}

function open(store: Store, target: AuditTarget, owner = 'one') {
  const failures: string[] = [];
  const skipped: number[] = [];
  let recoveries = 0;
  const sink = createAuditSink({
    store: store.audit,
    leases: store.leases,
    target,
    owner,
    onFailure: (reason) => failures.push(reason),
    onRecovery: () => recoveries++,
    onSkipped: (records) => skipped.push(records),
    idleMs: 1,
    backOffMs: 1,
  });
  sink.start();
  closeAfterTest(sink);
  return { sink, failures, skipped, countRecoveries: () => recoveries };
}

const openStore = async () => closeAfterTest(await openMemoryStore());
const readLines = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const readSeqs = (path: string): number[] => readLines(path).map((line) => JSON.parse(line).seq);
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

async function compare(store: Store, lines: readonly string[], sink: string | null = null) {
  async function* read() {
    yield* lines;
  }
  return compareSink(read(), store.audit, CHAIN_KEY, sink === null ? null : await store.audit.readSink(sink));
}

test('a file has every record once, in order, with its hash, and later ones follow', async () => {
  const store = await openStore();
  const path = makeFile();
  await append(store, 450);
  open(store, createFileTarget(path));
  await expect.poll(() => readSeqs(path).length).toBe(450);
  await append(store, 3);
  await expect.poll(() => readSeqs(path)).toEqual(upTo(453));
  expect(JSON.parse(readLines(path)[452]!).record.request_id).toBe('request-453');
  const name = `file ${path}`;
  await expect.poll(async () => (await store.audit.readSink(name))?.seq).toBe(453);
  expect(await compare(store, readLines(path), name)).toMatchObject({
    matches: true,
    records: 453,
    repeated: 0,
  });
});

test('a renamed file is left alone, and a new one continues', async () => {
  const store = await openStore();
  const path = makeFile();
  await append(store, 5);
  open(store, createFileTarget(path));
  await expect.poll(() => readSeqs(path).length).toBe(5);
  renameSync(path, `${path}.1`);
  await append(store, 5);
  await expect.poll(() => readSeqs(path)).toEqual(upTo(10, 6));
  expect(readSeqs(`${path}.1`)).toEqual(upTo(5));
  expect(await compare(store, [...readLines(`${path}.1`), ...readLines(path)])).toMatchObject({
    matches: true,
  });
});

test('after a crash, a broken line is written again, and the file decides where to go on', async () => {
  const store = await openStore();
  const path = makeFile();
  await append(store, 10);
  const first = open(store, createFileTarget(path));
  await expect.poll(async () => (await store.audit.readSink(`file ${path}`))?.seq).toBe(10);
  await first.sink.close();
  const lines = readLines(path);
  // The disk has lost three records that it had taken, and has a part of the third one.
  truncateSync(path, lines.slice(0, 7).join('\n').length + 1 + 20);
  open(store, createFileTarget(path));
  await expect.poll(() => readSeqs(path)).toEqual(upTo(10));
  expect(readLines(path)).toEqual(lines);
});

test('records that were written before their position was stored are not written twice', async () => {
  const store = await openStore();
  const path = makeFile();
  await append(store, 10);
  const target = createFileTarget(path);
  await target.write(await store.audit.readAfter(0, 10));
  await target.close();
  open(store, createFileTarget(path));
  await append(store, 1);
  await expect.poll(() => readSeqs(path)).toEqual(upTo(11));
});

test.each([
  ['other lines', 'a line of another program\n'],
  ['the beginning of another line', 'another program'],
])('a file with %s is not touched', async (_, content) => {
  const store = await openStore();
  const path = makeFile();
  writeFileSync(path, content);
  await append(store, 1);
  const { sink, failures } = open(store, createFileTarget(path));
  await expect.poll(() => failures).toEqual([expect.stringContaining('name a file of its own')]);
  expect(sink.failure).toContain('name a file of its own');
  expect(readFileSync(path, 'utf8')).toBe(content);
});

test('records that retention has removed before they were sent are reported', async () => {
  const store = await openStore();
  const path = makeFile();
  await append(store, 4);
  const first = open(store, createFileTarget(path));
  await expect.poll(async () => (await store.audit.readSink(`file ${path}`))?.seq).toBe(4);
  await first.sink.close();
  await append(store, 6);
  await store.audit.prune(8, 100);
  const { skipped } = open(store, createFileTarget(path), 'two');
  await expect.poll(() => readSeqs(path)).toEqual([...upTo(4), ...upTo(10, 8)]);
  expect(skipped).toEqual([3]);
});

/** A sink in memory that does what a case says. */
class ScriptedTarget implements AuditTarget {
  readonly name = 'scripted';
  readonly taken: AuditRow[] = [];
  /** What happens at the next writes; then all is taken. */
  readonly script: ('refuse' | 'take part' | 'take all and fail')[] = [];
  /** Numbers of records that are never taken. */
  readonly refused = new Set<number>();

  async findLast() {
    return null;
  }

  async write(rows: readonly AuditRow[]): Promise<void> {
    const step = this.script.shift();
    const part = step === 'refuse' ? 0 : step === 'take part' ? Math.floor(rows.length / 2) : rows.length;
    const bad = rows.findIndex(({ seq }) => this.refused.has(seq));
    this.taken.push(...rows.slice(0, bad === -1 ? part : Math.min(bad, part)));
    if (step !== undefined) throw new Error(step);
    if (bad !== -1) throw new Error('the collector rejected 1 items');
  }

  async close() {}
}

/** The records in the order in which they came first. */
const firstSeqs = ({ taken }: ScriptedTarget) => [...new Set(taken.map(({ seq }) => seq))];

test('a record that is never taken is named, and nothing after it is sent', async () => {
  const store = await openStore();
  const target = new ScriptedTarget();
  target.refused.add(7);
  await append(store, 20);
  const { sink, failures, countRecoveries } = open(store, target);
  await expect.poll(() => sink.failure).toBe('record 7: the collector rejected 1 items');
  expect(failures).toHaveLength(1);
  expect(Math.max(...firstSeqs(target))).toBe(6);
  // The time of each record is its number.
  expect(sink.oldestAt).toBe(7);
  target.refused.clear();
  await expect.poll(() => firstSeqs(target)).toEqual(upTo(20));
  await expect.poll(() => sink.failure).toBeNull();
  expect(sink.oldestAt).toBeNull();
  expect(countRecoveries()).toBe(1);
});

test('with failures, crashes and two processes, every record is taken, and comes first in order', async () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = createRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  for (let round = 0; round < countCases(20) / 4; round++) {
    const store = await openStore();
    const target = new ScriptedTarget();
    const running: AuditSink[] = [];
    let records = 0;
    for (let step = 0; step < 12; step++) {
      const action = pick(4);
      if (action === 0) target.script.push((['refuse', 'take part', 'take all and fail'] as const)[pick(3)]!);
      if (action === 1) {
        const count = 1 + pick(300);
        await append(store, count);
        records += count;
      }
      if (action === 2 && running.length < 2) running.push(open(store, target, `${round} ${step}`).sink);
      if (action === 3) await running.shift()?.close();
    }
    const { sink } = open(store, target, `${round} last`);
    for (const other of running) await other.close();
    await expect.poll(() => firstSeqs(target).length, { message: `seed ${seed}` }).toBe(records);
    expect(firstSeqs(target), `seed ${seed}`).toEqual(upTo(records));
    await expect.poll(() => sink.failure, { message: `seed ${seed}` }).toBeNull();
    await sink.close();
  }
});

async function startComparison() {
  const store = await openStore();
  const path = makeFile();
  await append(store, 10);
  const target = createFileTarget(path);
  await target.write(await store.audit.readAfter(0, 100));
  await target.close();
  return { store, lines: readLines(path) };
}

test('finds every way in which a sink differs', async () => {
  const { store, lines } = await startComparison();
  const change = (at: number, from: string | RegExp, to: string) =>
    lines.map((line, index) => (index === at ? line.replace(from, to) : line));
  const cases: [string[], object][] = [
    [change(3, '"ok"', '"no"'), { line: 4, seq: 4, problem: expect.stringMatching(/changed in the sink/) }],
    [change(0, '"ok"', '"no"'), { line: 1, seq: 1, problem: expect.stringMatching(/another record/) }],
    [
      change(3, /"hash":"./, '"hash":"g'),
      { line: 4, seq: null, problem: expect.stringMatching(/no record/) },
    ],
    [lines.toSpliced(3, 1), { line: 4, seq: 5, problem: 'The records 4 to 4 are missing in the sink.' }],
    [
      [...lines.slice(0, 9), lines[9]!.slice(0, -9)],
      { line: 10, problem: expect.stringMatching(/not whole/) },
    ],
    [[...lines, lines[9]!.replace('"seq":10', '"seq":11')], { line: 11, seq: 11 }],
  ];
  for (const [changed, fault] of cases) {
    expect(await compare(store, changed)).toMatchObject({ matches: false, fault });
  }
  expect(await compare(store, lines)).toMatchObject({ matches: true, fault: null, firstSeq: 1, lastSeq: 10 });
  const repeated = [...lines.slice(0, 6), ...lines.slice(3)];
  expect(await compare(store, repeated)).toMatchObject({ matches: true, records: 10, repeated: 3 });
});

test('finds that a sink lacks the end of what it has taken', async () => {
  const { store, lines } = await startComparison();
  const [last] = await store.audit.readAfter(9, 1);
  await store.audit.moveSink('liar', null, last!);
  expect(await compare(store, lines, 'liar')).toMatchObject({ matches: true });
  for (const count of [7, 0]) {
    expect(await compare(store, lines.slice(0, count), 'liar')).toMatchObject({
      matches: false,
      fault: {
        line: null,
        seq: 10,
        problem: expect.stringMatching(/has said to have taken the records up to 10/),
      },
    });
  }
});

test('finds records that the store has lost, and checks those that retention has removed', async () => {
  const { store, lines } = await startComparison();
  await store.audit.prune(6, 100);
  expect(await compare(store, lines)).toMatchObject({ matches: true, records: 10 });
  const changed = lines.map((line, index) => (index === 2 ? line.replace('"ok"', '"no"') : line));
  expect(await compare(store, changed)).toMatchObject({ matches: false, fault: { seq: 3 } });
  const restored = await openStore();
  await append(restored, 8);
  expect(await compare(restored, lines)).toMatchObject({
    fault: { seq: 9, problem: 'The sink has a record that the store does not have.' },
  });
});
