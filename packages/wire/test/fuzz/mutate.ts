/** Changes inputs at random. Knows nothing of what they mean, but for the words that it is given. */

export type Random = () => number;

/** Longer than any limit of a head or a line that the readers have. */
const BYTES_MAX = 48 * 1024;

/** `other` is a further input, of which parts may be taken. */
export function mutate(input: Buffer, other: Buffer, words: readonly string[], random: Random): Buffer {
  const below = (count: number) => Math.floor(random() * count);
  let bytes = input;
  for (let left = 1 + below(4); left > 0; left--) {
    const start = below(bytes.length + 1);
    const end = Math.min(bytes.length, start + 1 + below(random() < 0.7 ? 4 : bytes.length));
    const replace = (added: Uint8Array, until = end) =>
      Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(until)]);
    const word = () => Buffer.from(words[below(words.length)] ?? '', 'latin1');
    switch (below(9)) {
      case 0:
        bytes = replace(Buffer.of(below(256)), start + 1);
        break;
      case 1:
        bytes = replace(Buffer.of(below(256)), start);
        break;
      case 2:
        bytes = replace(Buffer.alloc(0));
        break;
      case 3:
        bytes = replace(word());
        break;
      case 4:
      case 5:
        bytes = replace(word(), start);
        break;
      case 6: {
        const part = bytes.subarray(start, end);
        bytes = replace(
          Buffer.concat(Array.from({ length: 1 + below(random() < 0.9 ? 3 : 300) }, () => part)),
        );
        break;
      }
      case 7: {
        const from = below(other.length + 1);
        bytes = replace(other.subarray(from, from + below(other.length + 1)));
        break;
      }
      case 8:
        if (start < bytes.length)
          bytes = replace(Buffer.of((bytes[start] as number) ^ (1 << below(8))), start + 1);
    }
    bytes = bytes.subarray(0, BYTES_MAX);
  }
  return bytes;
}
