/** A script that Redis runs as one step. Knows no connection. */
import { hash } from 'node:crypto';

export interface Script {
  readonly text: string;
  /** SHA-1 of the text: Redis's name for a script that it knows already. */
  readonly digest: string;
}

export function defineScript(text: string): Script {
  return { text, digest: hash('sha1', text) };
}

/** For scripts that need the time: milliseconds since 1970 by the clock of Redis, the one that all replicas share. */
export const READ_NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
`;
