/** Lua scripts, which Redis runs atomically. */
import { hash } from 'node:crypto';

export interface Script {
  readonly text: string;
  /** SHA-1 of the text, by which Redis identifies a known script. */
  readonly digest: string;
}

export function defineScript(text: string): Script {
  return { text, digest: hash('sha1', text) };
}

/** Sets `now` to milliseconds since 1970 by the clock of Redis, which all replicas share. */
export const READ_NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
`;
