/** What the audit says of those who act. Knows how they were named before they had a type and a name. */
import { ACTOR_TYPES, type ActorView } from '@erp-proxy/contract';

/** `admin.token`, sent with a request. */
export const TOKEN_ACTOR: ActorView = { type: 'token', id: 'token', name: 'admin.token' };
/** A session that was started with `admin.token`, or with a link that is signed with it. */
export const SESSION_ACTOR: ActorView = { type: 'session', id: 'session', name: 'session' };
export const PROXY_ACTOR: ActorView = { type: 'proxy', id: 'proxy', name: 'proxy' };
export const NOBODY: ActorView = { type: 'nobody', id: 'nobody', name: 'nobody' };

const COMMAND_ID_START = 'cli:';

/** A command on the machine of the store. */
export function nameCommandActor(user: string, host: string): ActorView {
  return describeCommand(`${COMMAND_ID_START}${user}@${host}`);
}

function describeCommand(id: string): ActorView {
  return { type: 'command', id, name: id.slice(COMMAND_ID_START.length) };
}

/**
 * Reads an actor of a stored record. Records of before actors had types have a text, which is the id. Null for any
 * other value.
 */
export function readActor(value: unknown): ActorView | null {
  if (typeof value === 'string') return readId(value);
  if (typeof value !== 'object' || value === null) return null;
  const { type, id, name } = value as Record<string, unknown>;
  const known = ACTOR_TYPES.find((it) => it === type);
  const isActor = known !== undefined && typeof id === 'string' && typeof name === 'string';
  return isActor ? { type: known, id, name } : null;
}

function readId(id: string): ActorView {
  if (id.startsWith(COMMAND_ID_START)) return describeCommand(id);
  return (
    [TOKEN_ACTOR, SESSION_ACTOR, PROXY_ACTOR].find((actor) => actor.id === id) ?? { ...NOBODY, id, name: id }
  );
}
