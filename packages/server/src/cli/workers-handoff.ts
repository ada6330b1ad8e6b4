/**
 * Settles connections that a worker never accepted. Node's cluster hands out connections one by one and waits for the
 * worker's acknowledgment. If the worker ends first, Node keeps the connection open and it is never served. Node has no
 * public way to settle it, so this sends the acknowledgment of a worker in Node's internal form. With a later Node that
 * has another form, nothing happens.
 */
import type { Worker } from 'node:cluster';

/**
 * What Node's cluster sends with a connection, and what a worker answers (lib/internal/cluster/round_robin_handle.js).
 */
interface ClusterMessage {
  cmd?: unknown;
  act?: unknown;
  /** The listening socket. Node waits for the acknowledgment before it hands the worker another of its connections. */
  key?: unknown;
  seq?: unknown;
  ack?: unknown;
}

/**
 * Call it when the worker is forked. Connections that the worker did not accept go to another worker, or are closed if
 * `hasOthers` returns false.
 */
export function returnUntakenConnections({ process: child }: Worker, hasOthers: () => boolean): void {
  const untaken = new Map<unknown, unknown>();
  const send: typeof child.send | undefined = child.send;
  // A process that could not be started has no channel.
  if (send === undefined) return;
  child.send = (message: ClusterMessage, ...more: unknown[]) => {
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn') untaken.set(message.key, message.seq);
    return Reflect.apply(send, child, [message, ...more]);
  };
  child.on('internalMessage', ({ ack }: ClusterMessage) => {
    for (const [key, seq] of untaken) if (seq === ack) untaken.delete(key);
  });
  child.once('exit', settle).once('disconnect', settle);

  /**
   * An acknowledgment can still be in the channel when the process has ended: a connection that it served is not handed
   * on.
   */
  function settle(): void {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (child.connected || !hasEnded) return;
    // Node closes its own end of a connection that was accepted.
    const accepted = !hasOthers();
    for (const ack of untaken.values()) {
      child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted });
    }
    untaken.clear();
  }
}
