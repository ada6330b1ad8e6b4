/** Returns bytes that count reads of single bytes, so that a test can limit the work without a clock. */
export function countReads(text: string): { bytes: Uint8Array; reads: () => number } {
  let count = 0;
  const bytes = new Proxy(Buffer.from(text), {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) count++;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { bytes, reads: () => count };
}
