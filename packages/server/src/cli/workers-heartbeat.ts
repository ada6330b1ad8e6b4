/**
 * The heartbeat between the primary and a worker. A process that is stopped or blocks its event loop does not answer.
 * The primary kills and replaces it. Knows only the channel between two processes.
 */

/** One end of the channel between the primary and a worker. */
interface Channel {
  send?(message: object, onSent: (error: Error | null) => void): unknown;
  on(event: 'message' | 'disconnect', listener: (message: unknown) => void): unknown;
}

const INTERVAL_MS = 1000;
/** Consecutive beats without an answer after which a worker counts as hung. A busy machine may delay a few. */
const MISSED_MAX = 10;
/** The same number for a worker that has not started yet: loading the program takes long on a busy machine. */
const MISSED_AT_START_MAX = 30;

/** Answers the beats of the primary. */
export function answerHeartbeats(channel: Channel): void {
  channel.on('message', (message) => {
    if (isBeat(message, 'ask')) send(channel, { heartbeat: 'answer' });
  });
}

export interface HeartbeatWatch {
  /** Call it when the other process has started. From then on, ten beats are the limit. */
  started(): void;
}

/**
 * Calls `onHung` once, after ten consecutive beats without an answer, or thirty before the other process has started.
 * Counts beats instead of time: a suspended machine sends none.
 */
export function watchHeartbeats(channel: Channel, onHung: () => void): HeartbeatWatch {
  let missed = 0;
  let missedMax = MISSED_AT_START_MAX;
  const timer = setInterval(beat, INTERVAL_MS);
  const stop = () => clearInterval(timer);
  const started = () => {
    missed = 0;
    missedMax = MISSED_MAX;
  };
  channel.on('disconnect', stop);
  channel.on('message', (message) => {
    if (isBeat(message, 'answer')) missed = 0;
  });
  return { started };

  function beat(): void {
    if (missed >= missedMax) {
      stop();
      onHung();
      return;
    }
    missed++;
    send(channel, { heartbeat: 'ask' });
  }
}

/** Ignores errors: a message can arrive while the channel closes, and the answer to it then fails. */
function send(channel: Channel, message: object): void {
  channel.send?.(message, () => {});
}

function isBeat(message: unknown, kind: 'ask' | 'answer'): boolean {
  return (
    typeof message === 'object' && message !== null && 'heartbeat' in message && message.heartbeat === kind
  );
}
