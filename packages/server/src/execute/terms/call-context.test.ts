import { expect, test, vi } from 'vitest';
import type { Client } from '../../keys/keys.ts';
import { ScriptedStream } from '../../streams/scripted-stream.fixture.ts';
import { CallContext } from './call-context.ts';
import { startTrace } from './call-trace.ts';
import { OWN_DIALECT } from './dialect.ts';
import type { Exchange } from './exchange.ts';
import { replyWhole } from './reply.ts';
import { RequestTime } from './request-time.ts';

function createContext(): CallContext {
  const time = new RequestTime({ nowMs: () => 0, defaultMs: 1000 });
  return new CallContext({
    request: {
      exchange: {} as Exchange,
      dialect: OWN_DIALECT,
      time,
      startedMs: 0,
      isBatch: false,
      idempotencyKey: null,
      hasKeyForOneCall: false,
      approvalIds: [],
      confirmation: null,
      traceparent: null,
      traced: null,
      areValuesNormalized: false,
      via: null,
      actor: null,
      data: null,
      isBackground: false,
    },
    client: {} as Client,
    time,
    trace: startTrace(0, null),
    index: 0,
    bytes: Buffer.from('{}'),
    approvalRule: null,
    isUnchanged: () => true,
  });
}

const RESULT = replyWhole(Buffer.from('1'), Buffer.from('}'));

test('listeners of the reply run in reverse order, and what was taken is released once', async () => {
  const context = createContext();
  const order: string[] = [];
  context.onReply((reply) => {
    order.push('first');
    return reply;
  });
  context.onReply(async (reply) => {
    order.push('second');
    return reply;
  });
  context.onReleased(() => order.push('released'));
  expect(await context.reply(RESULT)).toBe(RESULT);
  context.release();
  expect(order).toEqual(['second', 'first', 'released']);
});

test('an exception of one listener reaches the caller after the others have run', async () => {
  const context = createContext();
  const first = vi.fn((reply) => reply);
  const released = vi.fn();
  context.onReply(first);
  context.onReply(() => {
    throw new Error('broken');
  });
  context.onReleased(released);
  await expect(async () => context.reply(RESULT)).rejects.toThrow('broken');
  expect(first).toHaveBeenCalledExactlyOnceWith(null);
  expect(released).toHaveBeenCalledOnce();
});

test('what was taken is held until the last byte of a streamed result', async () => {
  const context = createContext();
  const released = vi.fn();
  context.onReleased(released);
  const reply = await context.reply({ ...RESULT, rest: new ScriptedStream('2', '3', null) });
  if (reply === null || !('rest' in reply) || reply.rest === null) throw new Error('not streamed');
  for (let piece = await reply.rest.next(); piece !== null; piece = await reply.rest.next())
    expect(released).not.toHaveBeenCalled();
  expect(released).toHaveBeenCalledOnce();
});
