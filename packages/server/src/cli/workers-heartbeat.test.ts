import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchHeartbeats } from './workers-heartbeat.ts';

const MODULE = new URL('workers-heartbeat.ts', import.meta.url).href;

/** A worker that closes its channel when a beat arrives, before it answers the beat. */
const WORKER = `
  import { answerHeartbeats } from '${MODULE}';
  process.on('message', () => process.disconnect());
  answerHeartbeats(process);
  process.send('ready');
`;

test('a beat that arrives as the channel closes does not end the process with an error', async () => {
  const worker = spawn(process.execPath, ['--input-type=module', '--eval', WORKER], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const output = text(worker.stderr as NonNullable<typeof worker.stderr>);
  await once(worker, 'message');
  worker.send({ heartbeat: 'ask' });
  const [status] = await once(worker, 'exit');
  expect(await output).toBe('');
  expect(status).toBe(0);
});

describe('the other end is hung', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => vi.useRealTimers());

  /** `answers`: how many beats the other end answers. The result counts the beats and the reported hangs. */
  function watch(answers: number) {
    const seen = { beats: 0, hangs: 0 };
    const channel = Object.assign(new EventEmitter(), {
      send() {
        if (seen.beats++ < answers) channel.emit('message', { heartbeat: 'answer' });
      },
    });
    const { started } = watchHeartbeats(channel, () => seen.hangs++);
    return { seen, started, channel };
  }

  test.each([
    { started: false, unanswered: 30 },
    { started: true, unanswered: 10 },
  ])('after $unanswered beats without an answer (started: $started)', ({ started, unanswered }) => {
    const watched = watch(3);
    if (started) watched.started();
    vi.advanceTimersByTime((3 + unanswered) * 1000);
    expect(watched.seen).toEqual({ beats: 3 + unanswered, hangs: 0 });
    vi.advanceTimersByTime(60_000);
    expect(watched.seen).toEqual({ beats: 3 + unanswered, hangs: 1 });
  });

  test('by the beats since its start alone: those before do not count', () => {
    const watched = watch(0);
    vi.advanceTimersByTime(29_000);
    watched.started();
    vi.advanceTimersByTime(10_000);
    expect(watched.seen).toEqual({ beats: 39, hangs: 0 });
    vi.advanceTimersByTime(1000);
    expect(watched.seen.hangs).toBe(1);
  });

  test('never, once it has disconnected', () => {
    const watched = watch(0);
    watched.channel.emit('disconnect');
    vi.advanceTimersByTime(60_000);
    expect(watched.seen).toEqual({ beats: 0, hangs: 0 });
  });
});
