/** Tests how long DNS answers are kept, and which are not. */
import { expect, test } from 'vitest';
import { cacheNames } from './names.ts';

function askable(answers: (string[] | Error)[]) {
  const asked: string[] = [];
  let nowMs = 0;
  const lookUp = cacheNames(
    async (name) => {
      asked.push(name);
      const answer = answers[asked.length - 1]!;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    () => nowMs,
  );
  return {
    asked,
    lookUp,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('keeps an answer for less than ten seconds', async () => {
  const names = askable([['1.1.1.1'], ['2.2.2.2']]);
  expect(await names.lookUp('a.example')).toEqual(['1.1.1.1']);
  names.pass(1_000);
  expect(await names.lookUp('a.example')).toEqual(['1.1.1.1']);
  names.pass(9_000);
  expect(await names.lookUp('a.example')).toEqual(['2.2.2.2']);
});

test('resolves a name once for concurrent calls', async () => {
  const names = askable([['1.1.1.1']]);
  await Promise.all([names.lookUp('a.example'), names.lookUp('a.example')]);
  expect(names.asked).toEqual(['a.example']);
});

test('keeps neither failures nor empty answers', async () => {
  const names = askable([new Error('ENOTFOUND'), [], ['1.1.1.1']]);
  await expect(names.lookUp('a.example')).rejects.toThrow('ENOTFOUND');
  expect(await names.lookUp('a.example')).toEqual([]);
  expect(await names.lookUp('a.example')).toEqual(['1.1.1.1']);
});
