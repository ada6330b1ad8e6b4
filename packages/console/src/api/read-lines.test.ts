import { expect, test } from 'vitest';
import { readLines } from './read-lines.ts';

test('lines and characters that arrive in parts are put together', async () => {
  const bytes = new TextEncoder().encode('{"a":"é"}\n\n{"b":2}\n{"c":3}');
  for (let size = 1; size <= bytes.length; size++) {
    const lines: unknown[] = [];
    await readLines(streamParts(bytes, size), (line) => lines.push(line));
    expect(lines).toEqual([{ a: 'é' }, { b: 2 }, { c: 3 }]);
  }
});

test('an answer that breaks off within a line is an error', async () => {
  const bytes = new TextEncoder().encode('{"a":1}\n{"b"');
  await expect(readLines(streamParts(bytes, 4), () => undefined)).rejects.toThrow(SyntaxError);
});

function streamParts(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
}
