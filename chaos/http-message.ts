/** The part of HTTP that this folder needs, on bare sockets: ASCII messages with Content-Length. */
import type { Socket } from 'node:net';

/** Calls back once, with the next complete message. `head` has no blank line at its end. */
export function readMessage(socket: Socket, onMessage: (head: string, body: string) => void): void {
  let text = '';
  const read = (bytes: Buffer) => {
    text += bytes.toString('latin1');
    const headEnd = text.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length < headEnd + 4 + length) return;
    socket.off('data', read);
    onMessage(text.slice(0, headEnd), text.slice(headEnd + 4));
  };
  socket.on('data', read);
}
