import { beforeEach, expect, test } from 'vitest';
import { AnswerRecorder, RecordingRoom } from './answer-recorder.ts';
import { CollectingWriter } from './answers.fixture.ts';

let out: CollectingWriter;
let room: RecordingRoom;
let recorder: AnswerRecorder;

beforeEach(() => {
  out = new CollectingWriter();
  room = new RecordingRoom(100);
  recorder = new AnswerRecorder(out, room, 10);
});

const bytes = (text: string) => Buffer.from(text);
const read = () => recorder.answer && { ...recorder.answer, body: `${recorder.answer.body}` };
const isRoomFree = () => room.take(100);

test('holds a whole answer back until it is let go, and has a copy', () => {
  recorder.sendWhole(201, { 'x-a': 'b' }, bytes('answer'));
  expect(read()).toEqual({ status: 201, body: 'answer' });
  expect(out).toMatchObject({ status: null, body: '' });
  recorder.letGo();
  expect(out).toMatchObject({ status: 201, headers: { 'x-a': 'b' }, body: 'answer', state: 'whole' });
  expect(isRoomFree()).toBe(true);
});

test('passes each piece on as it comes, and holds back the end alone', () => {
  recorder.begin(200, {}, null);
  void recorder.write(bytes('an'));
  void recorder.write(bytes('swer'));
  expect(out).toMatchObject({ status: 200, body: 'answer', state: 'open' });
  expect(recorder.answer).toBeNull();
  recorder.end();
  expect(out.state).toBe('open');
  expect(read()).toEqual({ status: 200, body: 'answer' });
  recorder.letGo();
  expect(out.state).toBe('whole');
});

test('holds back the last piece of an answer whose length is told: with it its caller would have the whole', () => {
  recorder.begin(200, {}, 6);
  void recorder.write(bytes('answ'));
  void recorder.write(bytes('er'));
  recorder.end();
  expect(out).toMatchObject({ body: 'answ', state: 'open' });
  expect(read()).toEqual({ status: 200, body: 'answer' });
  recorder.letGo();
  expect(out).toMatchObject({ body: 'answer', state: 'whole' });
});

test('gives on the back-pressure of the writer', () => {
  const full = Promise.resolve();
  out.write = () => full;
  expect(recorder.write(bytes('a'))).toBe(full);
});

test('passes on what is too large, and has no copy of it', () => {
  recorder.begin(200, {}, 11);
  for (const piece of ['0123456789', 'x', 'y']) void recorder.write(bytes(piece));
  recorder.end();
  expect(recorder.answer).toBeNull();
  expect(isRoomFree()).toBe(true);
  room.give(100);
  recorder.letGo();
  expect(out).toMatchObject({ body: '0123456789xy', state: 'whole' });
  expect(isRoomFree(), 'given back once only').toBe(true);
  expect(room.take(1)).toBe(false);
});

test('has no copy where all recorders together hold as much as they may', () => {
  room.take(95);
  recorder.sendWhole(200, {}, bytes('answer'));
  expect(recorder.answer).toBeNull();
  recorder.letGo();
  expect(out).toMatchObject({ body: 'answer', state: 'whole' });
});

test('forgets what was begun when another answer takes its place', () => {
  recorder.sendWhole(200, {}, bytes('first'));
  expect(recorder.restart()).toBe(true);
  expect(recorder.answer).toBeNull();
  recorder.sendWhole(500, {}, bytes('other'));
  expect(read()).toEqual({ status: 500, body: 'other' });
  recorder.letGo();
  expect(out).toMatchObject({ status: 500, body: 'other' });
  expect(isRoomFree()).toBe(true);
});

test('does not restart what has left', () => {
  recorder.begin(200, {}, null);
  expect(recorder.restart()).toBe(false);
});

test('has no answer that was broken off, and never ends it', () => {
  recorder.begin(200, {}, null);
  void recorder.write(bytes('part'));
  recorder.end();
  recorder.breakOff();
  expect(recorder.answer).toBeNull();
  recorder.letGo();
  expect(out.state).toBe('broken off');
  expect(isRoomFree()).toBe(true);
});
