import { describe, expect, test } from 'vitest';
import { passTurns } from '../../test/time.ts';
import { type Column, printList } from './print-list.ts';
import { recordSurroundings } from './surroundings.fixture.ts';

interface Item {
  name: string;
  used: number | null;
}
const COLUMNS: Column<Item>[] = [
  { heading: 'NAME', show: ({ name }) => name },
  { heading: 'USED', show: ({ used }) => used },
];
const ITEMS: Item[] = [
  { name: 'a', used: null },
  { name: 'a longer name', used: 12 },
];

async function* list(items: Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function print(items: Item[], { isTerminal = false, isJson = false } = {}) {
  const surroundings = recordSurroundings({ isTerminal });
  const input = Object.assign(surroundings, { isSet: (name: string) => name === 'json' && isJson });
  await printList(input, list(items), COLUMNS, 'There is nothing.');
  return surroundings;
}

describe('a list', () => {
  test('is a table with headings on a terminal', async () => {
    const { stdout } = await print(ITEMS, { isTerminal: true });
    expect(stdout).toBe('NAME           USED\na              -\na longer name  12\n');
  });

  test('is lines of tab-separated values elsewhere, without headings', async () => {
    expect((await print(ITEMS)).stdout).toBe('a\t-\na longer name\t12\n');
    expect((await print([{ name: 'a\tb\nc', used: 0 }])).stdout).toBe('a b c\t0\n');
  });

  test('is JSON with --json, also on a terminal', async () => {
    for (const isTerminal of [true, false]) {
      expect(JSON.parse((await print(ITEMS, { isTerminal, isJson: true })).stdout)).toEqual(ITEMS);
      expect((await print([], { isTerminal, isJson: true })).stdout).toBe('[]\n');
    }
  });

  test('that is empty has a message on standard error, and no output', async () => {
    for (const isTerminal of [true, false]) {
      expect(await print([], { isTerminal })).toMatchObject({ stdout: '', stderr: 'There is nothing.\n' });
    }
  });

  test('of many items is a table of equal columns, except for wider items far below', async () => {
    const items = Array.from({ length: 700 }, (_, used) => ({
      name: used < 600 ? 'x' : 'wider than that',
      used,
    }));
    const lines = (await print(items, { isTerminal: true })).stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(701);
    expect(lines.slice(0, 3)).toEqual(['NAME  USED', 'x     0', 'x     1']);
    expect(lines[700]).toBe('wider than that  699');
  });

  test.each([{ isTerminal: false }, { isTerminal: true }, { isJson: true }])(
    'waits for its reader: %j',
    async ({ isTerminal = false, isJson = false }) => {
      let asked = 0;
      const never = async function* () {
        for (;;) yield { name: 'x', used: asked++ };
      };
      const input = Object.assign(
        recordSurroundings({ isTerminal, untilTaken: () => new Promise(() => {}) }),
        {
          isSet: () => isJson,
        },
      );
      void printList(input, never(), COLUMNS, '');
      await expect.poll(() => asked).toBe(1);
      await passTurns(100);
      expect(asked).toBe(1);
    },
  );
});
