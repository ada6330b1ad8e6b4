/** Starts a TypeScript file of this folder as a process, and exchanges messages with it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

export interface HelperProcess {
  pid: number;
  /** The message that the process sent when it was ready. */
  hello: unknown;
  /** Sends one message and waits for one. */
  ask(message: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startHelper(script: URL, args: readonly string[] = []): Promise<HelperProcess> {
  const child = fork(script, args, { serialization: 'advanced' });
  const hello = await nextMessage(child);
  return {
    pid: child.pid as number,
    hello,
    ask(message) {
      const answer = nextMessage(child);
      child.send(message as object);
      return answer;
    },
    stop: () => stopProcess(child),
  };
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message);
    };
    const onExit = (code: number | null) => {
      child.off('message', onMessage);
      reject(new Error(`${child.spawnargs.join(' ')} ended early (${code})`));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
  });
}
