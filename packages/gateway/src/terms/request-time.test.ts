import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countOwnTimers } from '../../../server/test/own-timers.ts';
import { Deadline, readTimeoutMs } from './request-time.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  [undefined, null],
  ['', null],
  ['0', null],
  ['000', null],
  ['abc', null],
  ['1.5', null],
  ['-3', null],
  ['1e2', null],
  ['NaN', null],
  ['7', 7000],
  [' 7 ', 7000],
  ['007', 7000],
  ['300', 300_000],
  ['301', 300_000],
  ['999999999999999', 300_000],
  ['9999999999999999999999', 300_000],
  ['9'.repeat(400), 300_000],
])('reads x-request-timeout %j as %j ms', (header, expected) => {
  expect(readTimeoutMs(header)).toBe(expected);
});

test('ends by time only after its clock was started', () => {
  const deadline = new Deadline();
  vi.advanceTimersByTime(60_000);
  expect(deadline.reason).toBeNull();
  deadline.startClock(1000);
  vi.advanceTimersByTime(999);
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.signal.aborted).toBe(true);
  expect(deadline.reason).toBe('timeout');
});

test('restarts its clock, but not after the end', () => {
  const countTimers = countOwnTimers();
  const deadline = new Deadline();
  deadline.startClock(1000);
  vi.advanceTimersByTime(900);
  deadline.startClock(2000);
  vi.advanceTimersByTime(1999);
  expect(deadline.reason).toBeNull();
  vi.advanceTimersByTime(1);
  expect(deadline.reason).toBe('timeout');
  deadline.startClock(1000);
  deadline.clear();
  expect(countTimers()).toBe(0);
});

test('keeps the first reason', () => {
  const deadline = new Deadline();
  deadline.startClock(1000);
  deadline.end('caller_left');
  vi.advanceTimersByTime(2000);
  deadline.end('shutdown');
  expect(deadline.reason).toBe('caller_left');
});

test('cuts off an answer that has not been sent some time after the end', () => {
  const cutOff = vi.fn();
  const deadline = new Deadline(cutOff);
  deadline.startClock(1000);
  vi.advanceTimersByTime(1000);
  expect(cutOff).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2000);
  expect(cutOff).toHaveBeenCalledOnce();
});

test('does not cut off an answer that was sent by then', () => {
  const countTimers = countOwnTimers();
  const cutOff = vi.fn();
  const deadline = new Deadline(cutOff);
  deadline.end('shutdown');
  deadline.clear();
  expect(countTimers()).toBe(0);
  expect(cutOff).not.toHaveBeenCalled();
});

test('leaves no timer behind', () => {
  const countTimers = countOwnTimers();
  const deadline = new Deadline();
  deadline.startClock(1000);
  deadline.clear();
  expect(countTimers()).toBe(0);
});

test('does not call a listener that another listener has removed', () => {
  const deadline = new Deadline();
  const { signal } = deadline;
  const called: string[] = [];
  const second = () => called.push('second');
  signal.addEventListener('abort', () => {
    called.push('first');
    signal.removeEventListener('abort', second);
  });
  signal.addEventListener('abort', second);
  deadline.end('timeout');
  expect(called).toEqual(['first']);
});

test('calls a listener that was added twice only once, and not for a second end', () => {
  const deadline = new Deadline();
  const { signal } = deadline;
  const listener = vi.fn();
  signal.addEventListener('abort', listener);
  signal.addEventListener('abort', listener);
  deadline.end('timeout');
  deadline.end('shutdown');
  expect(listener).toHaveBeenCalledOnce();
  expect(signal.reason).toBe('timeout');
});

test('has a standard AbortSignal, which fetch and timers accept', () => {
  expect(new Deadline().signal).toBeInstanceOf(AbortSignal);
});
