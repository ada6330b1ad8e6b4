import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue, type Place } from './fair-queue.ts';

interface TestCall {
  client: string;
  instance: string | null;
  number: number;
}

/** Takes the next call out and lets it run. */
function beginNext(queue: FairQueue<TestCall>, mayGo = (_call: TestCall) => true): TestCall | null {
  const place = queue.findNext(mayGo);
  if (place === null) return null;
  const { call } = place.item;
  queue.remove(place);
  queue.begin(call.client);
  return call;
}

function fill(queue: FairQueue<TestCall>, lengths: Record<string, number>): void {
  for (const [client, length] of Object.entries(lengths))
    for (let number = 0; number < length; number++) queue.add({ client, instance: null, number });
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

test('calls to an instance that may not go are stepped past, and keep their turn', () => {
  const queue = new FairQueue<TestCall>();
  queue.add({ client: 'a', instance: 'full', number: 0 });
  fill(queue, { a: 1, b: 1 });
  queue.add({ client: 'c', instance: 'full', number: 0 });
  const passFull = ({ instance }: TestCall) => instance !== 'full';
  expect(beginNext(queue, passFull)).toEqual({ client: 'a', instance: null, number: 0 });
  expect(beginNext(queue, passFull)?.client).toBe('b');
  expect(beginNext(queue, passFull)).toBeNull();
  expect(beginNext(queue)?.client).toBe('c');
  expect(beginNext(queue)).toEqual({ client: 'a', instance: 'full', number: 0 });
});

test("a client's calls go in the order of coming, whatever instances they are for", () => {
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

test('after any history, turns, victims and sizes are those of the plain rules', () => {
  const clients = fc.constantFrom('a', 'b', 'c', 'd');
  const instances = fc.constantFrom(null, 'i', 'j');
  const steps = fc.array(
    fc.oneof(
      fc.record({ act: fc.constant('add' as const), client: clients, instance: instances }),
      fc.record({ act: fc.constant('next' as const), open: fc.subarray([null, 'i', 'j']) }),
      fc.record({ act: fc.constant('victim' as const), client: clients }),
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
      const lineOf = (client: string) => waiting.filter(({ item }) => item.call.client === client);
      const lengths = () =>
        [...new Set(waiting.map(({ item }) => item.call.client))].map((name) => lineOf(name).length);
      for (const [number, step] of history.entries()) {
        if (step.act === 'add') {
          const { client, instance } = step;
          const ahead = queue.countAhead({ client, instance });
          const branch = waiting.filter(({ item }) => item.call.instance === instance);
          const own = branch.filter(({ item }) => item.call.client === client).length;
          expect(ahead).toBeLessThanOrEqual(branch.length);
          expect(ahead).toBeGreaterThanOrEqual(own);
          if (branch.length === own) expect(ahead).toBe(own);
          waiting.push(queue.add({ client, instance, number }));
        } else if (step.act === 'next') {
          const mayGo = ({ instance }: TestCall) => step.open.includes(instance);
          const mayGoNow = waiting.filter(({ item }) => mayGo(item.call));
          const call = beginNext(queue, mayGo);
          expect(call === null).toBe(mayGoNow.length === 0);
          if (call === null) continue;
          const part = lineOf(call.client).filter(({ item }) => item.call.instance === call.instance);
          expect(part[0]?.item.call).toBe(call);
          for (const { item } of mayGoNow)
            expect(countRunning(call.client)).toBeLessThanOrEqual(countRunning(item.call.client));
          waiting = waiting.filter(({ item }) => item.call !== call);
          running.push(call.client);
        } else if (step.act === 'victim') {
          const victim = queue.findVictim(step.client);
          const longest = Math.max(0, ...lengths());
          expect(victim === null).toBe(longest <= lineOf(step.client).length + 1);
          if (victim === null) continue;
          const { client } = victim.item.call;
          expect(lineOf(client)).toHaveLength(longest);
          expect(lineOf(client).at(-1)).toBe(victim);
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

test('taking a call out again changes nothing, not even where its client has others by then', () => {
  const queue = new FairQueue<TestCall>();
  const call = { client: 'a', instance: null, number: 1 };
  const place = queue.add(call);
  expect(queue.remove(place)).toBe(true);
  expect(queue.remove(place)).toBe(false);
  expect(queue.size).toBe(0);
  queue.add({ ...call, number: 2 });
  expect(queue.remove(place)).toBe(false);
  expect(queue.size).toBe(1);
  expect(queue.countAhead(call)).toBe(1);
  expect(beginNext(queue)?.number).toBe(2);
});
