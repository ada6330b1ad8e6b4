import { expect, test } from 'vitest';
import { PieceCollector } from './piece-collector.ts';

/** Much faster than `toEqual` for many bytes. */
function expectEqual(bytes: Uint8Array, expected: Buffer): void {
  expect(expected.equals(bytes)).toBe(true);
}

test('joins all pieces in their order, also before more are added', () => {
  const collector = new PieceCollector();
  expect(collector.join()).toHaveLength(0);
  const whole = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));
  for (const [index, byte] of whole.entries()) {
    collector.add(Buffer.of(byte));
    if (index % 1000 === 7) expectEqual(collector.join(), whole.subarray(0, index + 1));
  }
  expect(collector.length).toBe(5000);
  expectEqual(collector.join(), whole);
});

test('joins small and large pieces in their order, and never copies many bytes of them while they arrive', () => {
  const collector = new PieceCollector();
  const pieces = Array.from({ length: 3000 }, (_, index) =>
    Buffer.alloc(index % 7 === 0 ? 5000 : index % 900, index),
  );
  for (const piece of pieces) collector.add(piece);
  expectEqual(collector.join(), Buffer.concat(pieces));

  const large = new PieceCollector();
  const piece = Buffer.alloc(64 * 1024);
  for (let count = 0; count < 3000; count++) large.add(piece);
  expect(large.pieces.every((kept) => kept === piece)).toBe(true);
});

test('does not copy a single piece', () => {
  const collector = new PieceCollector();
  const piece = Buffer.from('whole');
  collector.add(piece);
  expect(collector.join()).toBe(piece);
});
