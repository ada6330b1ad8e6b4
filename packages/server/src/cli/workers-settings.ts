/**
 * Gives each worker the settings with which its primary has started, and the secrets that other workers have taken over
 * since. If each worker read the settings itself, a replacement could start with a later version of a file than the
 * other workers, or not start at all. Knows only the channel between two processes.
 */
import { type ProgramSettings, readSetting, replaceSetting } from '../config/load.ts';
import type { SettingName, Settings } from '../config/schema.ts';

/** One end of the channel between the primary and a worker. */
interface Channel {
  send?(message: object, onSent: (error: Error | null) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}

/**
 * The environment variable with the id of a worker's primary. A program can be a worker of another one, such as pm2.
 */
const VARIABLE = 'ERP_WORKER_OF';

/** The environment variables for a new worker of this process. */
export function markWorker(): Record<string, string> {
  return { [VARIABLE]: String(process.pid) };
}

/** The settings of all workers. The values of secrets change while they run. */
export interface SharedSettings {
  given: ProgramSettings;
}

/** For the primary: answers a worker that asks for the settings, and keeps a secret that it has taken over. */
export function provideSettings(channel: Channel, shared: SharedSettings): void {
  channel.on('message', (message) => {
    const member = readMember(message);
    if (member === 'ask') send(channel, { settings: shared.given });
    if (!isTaken(member)) return;
    const { settings, ...others } = shared.given;
    shared.given = { ...others, settings: replaceSetting(settings, member.taken, member.value) };
  });
}

interface Taken {
  taken: SettingName;
  value: unknown;
}

function isTaken(member: unknown): member is Taken {
  return typeof member === 'object' && member !== null && 'taken' in member && 'value' in member;
}

/** For a worker: reports the secret that it has taken over. */
export function reportTaken(channel: Channel, taken: SettingName, settings: Settings): void {
  send(channel, { settings: { taken, value: readSetting(settings, taken) } satisfies Taken });
}

/** For a worker: asks the primary for the settings. Null if this process is no worker. */
export async function receiveSettings(
  channel: Channel,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ProgramSettings | null> {
  if (channel.send === undefined || env[VARIABLE] !== String(process.ppid)) return null;
  return new Promise((resolve) => {
    const receive = (message: unknown) => {
      const settings = readMember(message);
      if (typeof settings !== 'object') return;
      channel.off('message', receive);
      resolve(settings as ProgramSettings);
    };
    channel.on('message', receive);
    send(channel, { settings: 'ask' });
  });
}

/** Ignores errors: a worker ends by itself when the channel is closed. */
function send(channel: Channel, message: object): void {
  channel.send?.(message, () => {});
}

function readMember(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'settings' in message
    ? message.settings
    : undefined;
}
