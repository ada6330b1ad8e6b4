/** Fails for one beginning among sixteen millions, which is found only by what runs on the way to it. */
export function failAtWord(input: Buffer): string[] {
  if (input[0] === 0x62) {
    if (input[1] === 0x75) {
      if (input[2] === 0x67) throw new Error('the planted fault');
    }
  }
  return [];
}
