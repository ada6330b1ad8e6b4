/** Returns a view of the bytes that has Buffer's methods, without copying them. */
export function viewAsBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
