import { expect, test } from 'vitest';
import { createAnswerSeal } from './answer-seal.ts';

const seal = createAnswerSeal(new Uint8Array(32).fill(1));
const answer = { status: 409, body: Buffer.from('{"result":"déjà"}') };

test('opens a sealed answer, byte for byte, on every replica', () => {
  const replica = createAnswerSeal(new Uint8Array(32).fill(1));
  for (const body of [answer.body, Buffer.alloc(0), Buffer.alloc(100_000, 7)]) {
    const opened = replica.open('a', seal.seal('a', { status: 200, body }));
    expect(opened.status).toBe(200);
    expect(Buffer.compare(opened.body, body)).toBe(0);
  }
});

test('the sealed text shows nothing of the answer, and differs each time', () => {
  const sealed = seal.seal('a', answer);
  expect(Buffer.from(sealed).includes('result')).toBe(false);
  expect(seal.seal('a', answer)).not.toEqual(sealed);
});

test('does not open a text that was moved to another id, changed at any byte, cut, or sealed under another secret', () => {
  const sealed = seal.seal('a', answer);
  expect(() => seal.open('b', sealed)).toThrow();
  expect(() => createAnswerSeal(new Uint8Array(32).fill(2)).open('a', sealed)).toThrow();
  for (let index = 0; index < sealed.length; index++) {
    const changed = Uint8Array.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => seal.open('a', changed)).toThrow();
    expect(() => seal.open('a', sealed.subarray(0, index))).toThrow();
  }
});
