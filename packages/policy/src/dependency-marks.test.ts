/** Tests marks in graphs with cycles, with nodes asked for in any order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { DependencyMarks } from './dependency-marks.ts';

const node = fc.integer({ min: 0, max: 11 });

/** Whether a marked node can be reached. */
function reaches(start: number, edges: readonly (readonly number[])[], marked: ReadonlySet<number>): boolean {
  const seen = new Set([start]);
  for (const each of seen) {
    if (marked.has(each)) return true;
    for (const source of edges[each] ?? []) seen.add(source);
  }
  return false;
}

test('are those of all nodes that can be reached, whatever was asked before', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(node, { maxLength: 3 }), { minLength: 12, maxLength: 12 }),
      fc.uniqueArray(node, { maxLength: 3 }),
      fc.array(node, { minLength: 1, maxLength: 24 }),
      (edges, markedNodes, asked) => {
        const marked = new Set(markedNodes);
        const expanded: string[] = [];
        const marks = new DependencyMarks<true>((key) => {
          expanded.push(key);
          return {
            mark: marked.has(Number(key)) ? true : null,
            sources: (edges[Number(key)] ?? []).map(String),
          };
        });
        for (const each of asked)
          expect(marks.find(String(each)) !== null, String(each)).toBe(reaches(each, edges, marked));
        expect(new Set(expanded).size).toBe(expanded.length);
      },
    ),
    { numRuns: countCases(2000) },
  );
});
