import { beforeEach, expect, test } from 'vitest';
import { AnswerRecorder, RecordingBudget } from './answer-recorder.ts';
import { CollectingWriter } from './answers.fixture.ts';

let out: CollectingWriter;
let budget: RecordingBudget;
let recorder: AnswerRecorder;

beforeEach(() => {
  out = new CollectingWriter();
  budget = new RecordingBudget(100);
  recorder = new AnswerRecorder(out, budget, 10);
});

const bytes = (text: string) => Buffer.from(text);
const read = () => recorder.answer && { ...recorder.answer, body: `${recorder.answer.body}` };
const isBudgetFree = () => budget.take(100);

test('holds a whole answer back until it is released, and has a copy', () => {
  recorder.sendWhole(201, { 'x-a': 'b' }, bytes('answer'));
  expect(read()).toEqual({ status: 201, body: 'answer' });
  expect(out).toMatchObject({ status: null, body: '' });
  recorder.release();
  expect(out).toMatchObject({ status: 201, headers: { 'x-a': 'b' }, body: 'answer', state: 'whole' });
  expect(isBudgetFree()).toBe(true);
});

test('passes each piece on at once, and holds back only the end', () => {
  recorder.begin(200, {}, null);
  void recorder.write(bytes('an'));
  void recorder.write(bytes('swer'));
  expect(out).toMatchObject({ status: 200, body: 'answer', state: 'open' });
  expect(recorder.answer).toBeNull();
  recorder.end();
  expect(out.state).toBe('open');
  expect(read()).toEqual({ status: 200, body: 'answer' });
  recorder.release();
  expect(out.state).toBe('whole');
});

test('holds back the last piece of an answer of announced length, because it would complete the answer', () => {
  recorder.begin(200, {}, 6);
  void recorder.write(bytes('answ'));
  void recorder.write(bytes('er'));
  recorder.end();
  expect(out).toMatchObject({ body: 'answ', state: 'open' });
  expect(read()).toEqual({ status: 200, body: 'answer' });
  recorder.release();
  expect(out).toMatchObject({ body: 'answer', state: 'whole' });
});

test('passes on the back-pressure of the writer', () => {
  const full = Promise.resolve();
  out.write = () => full;
  expect(recorder.write(bytes('a'))).toBe(full);
});

test('passes on an answer that is too large, and has no copy of it', () => {
  recorder.begin(200, {}, 11);
  for (const piece of ['0123456789', 'x', 'y']) void recorder.write(bytes(piece));
  recorder.end();
  expect(recorder.answer).toBeNull();
  expect(isBudgetFree()).toBe(true);
  budget.giveBack(100);
  recorder.release();
  expect(out).toMatchObject({ body: '0123456789xy', state: 'whole' });
  expect(isBudgetFree(), 'given back only once').toBe(true);
  expect(budget.take(1)).toBe(false);
});

test('has no copy when all recorders together have reached their bound', () => {
  budget.take(95);
  recorder.sendWhole(200, {}, bytes('answer'));
  expect(recorder.answer).toBeNull();
  recorder.release();
  expect(out).toMatchObject({ body: 'answer', state: 'whole' });
});

test('drops the copy when another answer replaces the first', () => {
  recorder.sendWhole(200, {}, bytes('first'));
  expect(recorder.restart()).toBe(true);
  expect(recorder.answer).toBeNull();
  recorder.sendWhole(500, {}, bytes('other'));
  expect(read()).toEqual({ status: 500, body: 'other' });
  recorder.release();
  expect(out).toMatchObject({ status: 500, body: 'other' });
  expect(isBudgetFree()).toBe(true);
});

test('does not restart an answer that was begun', () => {
  recorder.begin(200, {}, null);
  expect(recorder.restart()).toBe(false);
});

test('has no copy of an answer that broke off, and never sends its end', () => {
  recorder.begin(200, {}, null);
  void recorder.write(bytes('part'));
  recorder.end();
  recorder.breakOff();
  expect(recorder.answer).toBeNull();
  recorder.release();
  expect(out.state).toBe('broken off');
  expect(isBudgetFree()).toBe(true);
});
