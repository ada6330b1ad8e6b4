import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TimeQueue } from './time-queue.ts';

test('gives names in the order of their latest times, each once', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('set' as const), name: fc.nat(20), at: fc.nat(50) }),
    fc.record({ do: fc.constant('delete' as const), name: fc.nat(20) }),
    fc.record({ do: fc.constant('take' as const), now: fc.nat(60) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const queue = new TimeQueue();
      const model = new Map<string, number>();
      for (const each of steps) {
        if (each.do === 'set') {
          queue.set(String(each.name), each.at);
          model.set(String(each.name), each.at);
        } else if (each.do === 'delete') {
          queue.delete(String(each.name));
          model.delete(String(each.name));
        } else {
          const taken = queue.takeDue(each.now);
          const earliest = model.size === 0 ? null : Math.min(...model.values());
          if (earliest === null || earliest > each.now) expect(taken).toBeNull();
          else {
            expect(model.get(taken ?? '')).toBe(earliest);
            model.delete(taken ?? '');
          }
        }
        expect(queue.size).toBe(model.size);
        expect(queue.nextAt).toBe(model.size === 0 ? null : Math.min(...model.values()));
      }
    }),
  );
});
