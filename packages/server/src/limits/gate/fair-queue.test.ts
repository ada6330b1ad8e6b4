import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue, type Place } from './fair-queue.ts';

interface TestCall {
  client: string;
  number: number;
}

/** Takes the next call out and lets it run. */
function beginNext(queue: FairQueue<TestCall>): TestCall | null {
  const place = queue.next;
  if (place === null) return null;
  queue.remove(place);
  queue.begin(place.item.client);
  return place.item;
}

function fill(queue: FairQueue<TestCall>, lengths: Record<string, number>): void {
  for (const [client, length] of Object.entries(lengths))
    for (let number = 0; number < length; number++) queue.add({ client, number });
}

test('with one place, clients take turns, each in the order of its own calls', () => {
  const queue = new FairQueue<TestCall>();
  fill(queue, { a: 1000, b: 1, c: 2 });
  const order: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const call = beginNext(queue);
    if (call === null) break;
    order.push(`${call.client}${call.number}`);
    queue.end(call.client);
  }
  expect(order).toEqual(['a0', 'b0', 'c0', 'a1', 'c1', 'a2']);
});

test('a client that adds calls keeps its turn', () => {
  const queue = new FairQueue<TestCall>();
  fill(queue, { a: 1, b: 1 });
  fill(queue, { a: 1 });
  expect(beginNext(queue)?.client).toBe('a');
});

test('a client whose calls are long does not come to hold more places than the others', () => {
  const queue = new FairQueue<TestCall>();
  fill(queue, { reports: 100 });
  for (let place = 0; place < 4; place++) beginNext(queue);
  fill(queue, { reads: 100 });
  // Two of the reports end, one after the other.
  queue.end('reports');
  expect(beginNext(queue)?.client).toBe('reads');
  queue.end('reports');
  expect(beginNext(queue)?.client).toBe('reads');
  // From now on the places are shared: each read that ends is followed by a read.
  for (let read = 0; read < 50; read++) {
    queue.end('reads');
    expect(beginNext(queue)?.client).toBe('reads');
  }
});

test('after any history, turns, victims and sizes are those of the plain rules', () => {
  const clients = fc.constantFrom('a', 'b', 'c', 'd');
  const steps = fc.array(
    fc.oneof(
      fc.record({ act: fc.constant('add' as const), client: clients }),
      fc.record({ act: fc.constantFrom('next' as const, 'victim' as const), client: clients }),
      fc.record({ act: fc.constantFrom('end' as const, 'remove' as const), pick: fc.nat() }),
    ),
    { maxLength: 200, size: 'max' },
  );
  fc.assert(
    fc.property(steps, (history) => {
      const queue = new FairQueue<TestCall>();
      let waiting: Place<TestCall>[] = [];
      const running: string[] = [];
      const countRunning = (client: string) => running.filter((name) => name === client).length;
      const lineOf = (client: string) => waiting.filter(({ item }) => item.client === client);
      const lengths = () =>
        [...new Set(waiting.map(({ item }) => item.client))].map((name) => lineOf(name).length);
      for (const [number, step] of history.entries()) {
        if (step.act === 'add') {
          const ahead = queue.countAhead(step.client);
          const own = lineOf(step.client).length;
          const others = waiting.length - own;
          expect(ahead).toBeLessThanOrEqual(waiting.length);
          expect(ahead).toBeGreaterThanOrEqual(own);
          if (others === 0) expect(ahead).toBe(own);
          waiting.push(queue.add({ client: step.client, number }));
        } else if (step.act === 'next') {
          const call = beginNext(queue);
          expect(call === null).toBe(waiting.length === 0);
          if (call === null) continue;
          expect(lineOf(call.client)[0]?.item).toBe(call);
          for (const { item } of waiting)
            expect(countRunning(call.client)).toBeLessThanOrEqual(countRunning(item.client));
          waiting = waiting.filter(({ item }) => item !== call);
          running.push(call.client);
        } else if (step.act === 'victim') {
          const victim = queue.findVictim(step.client);
          const longest = Math.max(0, ...lengths());
          expect(victim === null).toBe(longest <= lineOf(step.client).length + 1);
          if (victim === null) continue;
          expect(lineOf(victim.item.client)).toHaveLength(longest);
          expect(lineOf(victim.item.client).at(-1)).toBe(victim);
        } else if (step.act === 'end' && running.length > 0) {
          for (const client of running.splice(step.pick % running.length, 1)) queue.end(client);
        } else if (step.act === 'remove' && waiting.length > 0) {
          for (const place of waiting.splice(step.pick % waiting.length, 1)) queue.remove(place);
        }
        expect(queue.size).toBe(waiting.length);
        expect(new Set(queue.places())).toEqual(new Set(waiting));
      }
    }),
  );
});
