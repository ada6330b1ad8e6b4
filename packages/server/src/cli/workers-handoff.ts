/**
 * Settles connections that a worker never accepted. Node's cluster hands out connections one by one and waits for the
 * worker's acknowledgment. If the worker ends first, or refuses the connection because it is closing and no other
 * worker listens, Node keeps the connection open and it is never served. Node has no public way to settle it, so this
 * sends or changes the acknowledgment of a worker in Node's internal form. With a later Node that has another form,
 * nothing happens.
 */
import type { Worker } from 'node:cluster';

/**
 * What Node's cluster sends with a connection, and what a worker sends (lib/internal/cluster/round_robin_handle.js).
 */
interface ClusterMessage {
  cmd?: unknown;
  /** `newconn`: a connection. `close`: the worker listens no more. */
  act?: unknown;
  /** The listening socket. Node waits for the acknowledgment before it hands the worker another of its connections. */
  key?: unknown;
  seq?: unknown;
  ack?: unknown;
  accepted?: unknown;
}

/** The workers that listen. Node closes its socket with the last of them, and opens another one for the next. */
export class ListeningWorkers {
  readonly #workers = new Set<Worker>();
  /** Number of sockets that were closed. */
  closedSockets = 0;

  get size(): number {
    return this.#workers.size;
  }

  add(worker: Worker): void {
    this.#workers.add(worker);
  }

  delete(worker: Worker): void {
    if (this.#workers.delete(worker) && this.#workers.size === 0) this.closedSockets++;
  }
}

/**
 * Call it when the worker is forked. Connections that the worker did not accept go to another worker that listens on
 * the same socket. If there is none, they are closed.
 */
export function returnUntakenConnections(worker: Worker, listening: ListeningWorkers): void {
  const { process: child } = worker;
  const untaken = new Map<unknown, { seq: unknown; closedSockets: number }>();
  const send: typeof child.send | undefined = child.send;
  // A process that could not be started has no channel.
  if (send === undefined) return;
  worker.once('listening', () => listening.add(worker));
  child.send = (message: ClusterMessage, ...more: unknown[]) => {
    const { closedSockets } = listening;
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn')
      untaken.set(message.key, { seq: message.seq, closedSockets });
    return Reflect.apply(send, child, [message, ...more]);
  };
  // Before Node handles the message.
  child.prependListener('internalMessage', (message: ClusterMessage) => {
    if (message.act === 'close') listening.delete(worker);
    for (const [key, { seq, closedSockets }] of untaken) {
      if (seq !== message.ack) continue;
      untaken.delete(key);
      const hasOthers = listening.size > 0 && listening.closedSockets === closedSockets;
      // Node closes its own end of a connection that was accepted.
      if (!hasOthers) message.accepted = true;
    }
  });
  child.once('exit', settle).once('disconnect', settle);

  /**
   * An acknowledgment can still be in the channel when the process has ended: a connection that it served is not handed
   * on.
   */
  function settle(): void {
    listening.delete(worker);
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (child.connected || !hasEnded) return;
    for (const { seq } of untaken.values())
      child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack: seq, accepted: false });
  }
}
