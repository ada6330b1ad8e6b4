import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { SlicedTasks } from './sliced-tasks.ts';

let time: number;
let tasks: SlicedTasks;
let ran: string[];
beforeEach(() => {
  time = 0;
  ran = [];
  tasks = new SlicedTasks(() => time);
});

const take = (name: string, ms: number) => () => {
  ran.push(name);
  time += ms;
  return name;
};

test('tasks run at once while a turn has time for them, and later ones in order in the next turns', async () => {
  const first = [tasks.run(take('a', 2)), tasks.run(take('b', 4))];
  const later = [
    tasks.run(take('c', 5)),
    tasks.run(take('d', 0)),
    tasks.run(take('e', 9)),
    tasks.run(take('f', 0)),
  ];
  expect(ran).toEqual(['a', 'b']);
  const turns: string[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await nextTurn();
    turns.push(ran.splice(0).join(''));
  }
  expect(turns).toEqual(['abc', 'de', 'f', '']);
  expect(await Promise.all([...first, ...later])).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  tasks.run(take('g', 9));
  expect(ran).toEqual(['g']);
});

test('the time of other work, and of earlier turns, does not count', async () => {
  tasks.run(take('a', 9));
  await nextTurn();
  time += 100;
  tasks.run(take('b', 4));
  time += 100;
  tasks.run(take('c', 4));
  tasks.run(take('d', 4));
  expect(ran).toEqual(['a', 'b', 'c']);
});

test('an error is that of its task alone', async () => {
  const fail = () => {
    time += 9;
    throw new Error('failed');
  };
  await expect(tasks.run(fail)).rejects.toThrow('failed');
  const later = tasks.run(fail);
  const after = tasks.run(take('after', 0));
  await expect(later).rejects.toThrow('failed');
  expect(await after).toBe('after');
});

test('a task can start another', async () => {
  tasks.run(take('a', 9));
  const outer = tasks.run(() => tasks.run(take('inner', 9)));
  expect(await outer).toBe('inner');
});
