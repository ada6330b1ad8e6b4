import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../../server/test/random-cases.ts';
import { BucketQueue, FairQueue, LinkedList, type QueueEntry } from './fair-queue.ts';

interface TestCall {
  client: string;
  instance: string | null;
  number: number;
}

/** Removes the next call from the queue and begins it. */
function beginNext(queue: FairQueue<TestCall>, mayRun = (_call: TestCall) => true): TestCall | null {
  const entry = queue.findNext(mayRun);
  if (entry === null) return null;
  const { call } = entry.item;
  queue.remove(entry);
  queue.begin(call.client);
  return call;
}

function fill(queue: FairQueue<TestCall>, lengths: Record<string, number>): void {
  for (const [client, length] of Object.entries(lengths))
    for (let number = 0; number < length; number++) queue.add({ client, instance: null, number });
}

test('with a limit of 1, clients alternate, each in the order of its own calls', () => {
  const queue = new FairQueue<TestCall>();
  fill(queue, { a: 1000, b: 1, c: 2 });
  const order: string[] = [];
  for (let index = 0; index < 6; index++) {
    const call = beginNext(queue);
    if (call === null) break;
    order.push(`${call.client}${call.number}`);
    queue.end(call.client);
  }
  expect(order).toEqual(['a0', 'b0', 'c0', 'a1', 'c1', 'a2']);
});

test('a client that adds calls keeps its position', () => {
  const queue = new FairQueue<TestCall>();
  fill(queue, { a: 1, b: 1 });
  fill(queue, { a: 1 });
  expect(beginNext(queue)?.client).toBe('a');
});

test('a client with long calls does not occupy more of the limit than the others', () => {
  const queue = new FairQueue<TestCall>();
  fill(queue, { reports: 100 });
  for (let report = 0; report < 4; report++) beginNext(queue);
  fill(queue, { reads: 100 });
  // Two of the reports end, one after the other.
  queue.end('reports');
  expect(beginNext(queue)?.client).toBe('reads');
  queue.end('reports');
  expect(beginNext(queue)?.client).toBe('reads');
  // The limit is now shared equally: each time a read ends, a read begins.
  for (let read = 0; read < 50; read++) {
    queue.end('reads');
    expect(beginNext(queue)?.client).toBe('reads');
  }
});

test('calls to an instance at its bound are skipped, and keep their position', () => {
  const queue = new FairQueue<TestCall>();
  queue.add({ client: 'a', instance: 'full', number: 0 });
  fill(queue, { a: 1, b: 1 });
  queue.add({ client: 'c', instance: 'full', number: 0 });
  const isAllowed = ({ instance }: TestCall) => instance !== 'full';
  expect(beginNext(queue, isAllowed)).toEqual({ client: 'a', instance: null, number: 0 });
  expect(beginNext(queue, isAllowed)?.client).toBe('b');
  expect(beginNext(queue, isAllowed)).toBeNull();
  expect(beginNext(queue)?.client).toBe('c');
  expect(beginNext(queue)).toEqual({ client: 'a', instance: 'full', number: 0 });
});

test("a client's calls run in order of arrival, also across instances", () => {
  const queue = new FairQueue<TestCall>();
  for (const [number, instance] of ['i', null, 'j', null, 'i', 'i', null].entries())
    queue.add({ client: 'a', instance, number });
  const order: number[] = [];
  for (let call = beginNext(queue); call !== null; call = beginNext(queue)) {
    order.push(call.number);
    queue.end(call.client);
  }
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('after any history, the next call, victims and sizes match a naive implementation', () => {
  const clients = fc.constantFrom('a', 'b', 'c', 'd');
  const instances = fc.constantFrom(null, 'i', 'j');
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('add' as const), client: clients, instance: instances }),
      fc.record({ kind: fc.constant('next' as const), open: fc.subarray([null, 'i', 'j']) }),
      fc.record({ kind: fc.constant('victim' as const), client: clients }),
      fc.record({ kind: fc.constantFrom('end' as const, 'remove' as const), pick: fc.nat() }),
    ),
    { maxLength: 200, size: 'max' },
  );
  fc.assert(
    fc.property(steps, (history) => {
      const queue = new FairQueue<TestCall>();
      let waiting: QueueEntry<TestCall>[] = [];
      const running: string[] = [];
      const countRunning = (client: string) => running.filter((name) => name === client).length;
      const queueOf = (client: string) => waiting.filter(({ item }) => item.call.client === client);
      const lengths = () =>
        [...new Set(waiting.map(({ item }) => item.call.client))].map((name) => queueOf(name).length);
      for (const [number, step] of history.entries()) {
        if (step.kind === 'add') {
          const { client, instance } = step;
          const ahead = queue.countAhead({ client, instance });
          const subqueue = waiting.filter(({ item }) => item.call.instance === instance);
          const own = subqueue.filter(({ item }) => item.call.client === client).length;
          expect(ahead).toBeLessThanOrEqual(subqueue.length);
          expect(ahead).toBeGreaterThanOrEqual(own);
          if (subqueue.length === own) expect(ahead).toBe(own);
          waiting.push(queue.add({ client, instance, number }));
        } else if (step.kind === 'next') {
          const mayRun = ({ instance }: TestCall) => step.open.includes(instance);
          const runnable = waiting.filter(({ item }) => mayRun(item.call));
          const call = beginNext(queue, mayRun);
          expect(call === null).toBe(runnable.length === 0);
          if (call === null) continue;
          const part = queueOf(call.client).filter(({ item }) => item.call.instance === call.instance);
          expect(part[0]?.item.call).toBe(call);
          for (const { item } of runnable)
            expect(countRunning(call.client)).toBeLessThanOrEqual(countRunning(item.call.client));
          waiting = waiting.filter(({ item }) => item.call !== call);
          running.push(call.client);
        } else if (step.kind === 'victim') {
          const victim = queue.findVictim(step.client);
          const longest = Math.max(0, ...lengths());
          expect(victim === null).toBe(longest <= queueOf(step.client).length + 1);
          if (victim === null) continue;
          const { client } = victim.item.call;
          expect(queueOf(client)).toHaveLength(longest);
          expect(queueOf(client).at(-1)).toBe(victim);
        } else if (step.kind === 'end' && running.length > 0) {
          for (const client of running.splice(step.pick % running.length, 1)) queue.end(client);
        } else if (step.kind === 'remove' && waiting.length > 0) {
          for (const entry of waiting.splice(step.pick % waiting.length, 1)) queue.remove(entry);
        }
        expect(queue.size).toBe(waiting.length);
        expect(new Set(queue.entries())).toEqual(new Set(waiting));
      }
    }),
    { numRuns: countCases(100) },
  );
});

test('a call can be removed only once, even if its client has added others since', () => {
  const queue = new FairQueue<TestCall>();
  const call = { client: 'a', instance: null, number: 1 };
  const entry = queue.add(call);
  expect(queue.remove(entry)).toBe(true);
  expect(queue.remove(entry)).toBe(false);
  expect(queue.size).toBe(0);
  queue.add({ ...call, number: 2 });
  expect(queue.remove(entry)).toBe(false);
  expect(queue.size).toBe(1);
  expect(queue.countAhead(call)).toBe(1);
  expect(beginNext(queue)?.number).toBe(2);
});

/** A simple model of the queue, by sorting. */
class SortedQueue {
  #entries: { item: number; priority: number }[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get first(): number | null {
    return this.#entries.toSorted((a, b) => a.priority - b.priority)[0]?.item ?? null;
  }

  set(item: number, priority: number): void {
    if (this.#entries.some((entry) => entry.item === item && entry.priority === priority)) return;
    this.remove(item);
    this.#entries.push({ item, priority });
  }

  remove(item: number): void {
    this.#entries = this.#entries.filter((entry) => entry.item !== item);
  }
}

test('gives the oldest item of the lowest priority, after any changes', () => {
  const priority = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -200, max: 200 }));
  const step = fc.oneof(
    fc.record({ item: fc.nat(9), priority }),
    fc.record({ item: fc.nat(9), priority: fc.constant(null) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const queue = new BucketQueue<number>();
      const expected = new SortedQueue();
      const check = () => {
        expect(queue.size).toBe(expected.size);
        expect(queue.first).toBe(expected.first);
      };
      const remove = (item: number) => {
        queue.remove(item);
        expected.remove(item);
        check();
      };
      for (const { item, priority: given } of steps) {
        if (given === null) remove(item);
        else {
          queue.set(item, given);
          expected.set(item, given);
          check();
        }
      }
      for (let item = expected.first; item !== null; item = expected.first) remove(item);
    }),
  );
});

test('any node can be removed, once, also while the list is visited', () => {
  const list = new LinkedList<number>();
  const nodes = [1, 2, 3, 4].map((item) => list.add(item));
  expect(list.remove(nodes[1]!)).toBe(true);
  expect(list.remove(nodes[1]!)).toBe(false);
  const visited: number[] = [];
  for (const node of list) {
    visited.push(node.item);
    list.remove(node);
  }
  expect(visited).toEqual([1, 3, 4]);
  expect([list.size, list.first, list.last]).toEqual([0, null, null]);
});

test('a removed node refers to no other, so that it keeps none of them in memory', () => {
  const list = new LinkedList<number>();
  const [, second] = [1, 2, 3].map((item) => list.add(item));
  list.remove(second!);
  expect(second).toEqual({ item: 2, before: null, after: null, list: null });
});
