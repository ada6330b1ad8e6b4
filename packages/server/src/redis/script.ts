/** Lua scripts, which Redis runs atomically. */
import { hash } from 'node:crypto';

export interface Script {
  readonly text: string;
  /** SHA-1 of the text, by which Redis identifies a known script. */
  readonly digest: string;
  /**
   * The script runs before those that are sent after it, even if Redis has just lost its scripts. Each operation then
   * sends the text, so it should be short.
   */
  readonly staysInOrder: boolean;
}

export function defineScript(text: string, { staysInOrder = false } = {}): Script {
  return { text, digest: hash('sha1', text), staysInOrder };
}

/** Sets `now` to milliseconds since 1970 by the clock of Redis, which all replicas share. */
export const READ_NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
`;
