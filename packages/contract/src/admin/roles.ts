/** What operators may do, and how the audit names them. For programs that do not check input. Names never change. */

/**
 * The roles of operators, in rising order: each may do what the ones before it may. `viewer` reads all but secrets and
 * makes no call, `approver` also decides approvals, `operator` also changes what is stored and makes calls, and `admin`
 * also does what reaches the whole proxy.
 */
export const ROLES = ['viewer', 'approver', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function includesRole(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) >= ROLES.indexOf(needed);
}

/**
 * What acts: a person whom an identity provider knows; a token, either a personal one or `admin.token`; a session that
 * was started with `admin.token`; a command on the machine of the proxy; the proxy itself; or nobody, for a refused
 * login.
 */
export const ACTOR_TYPES = ['person', 'token', 'session', 'command', 'proxy', 'nobody'] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

interface NamedActor {
  type: ActorType;
  id: string;
  name: string;
}

/** Copies these members only, for records: what acts can have others. */
export function nameActor({ type, id, name }: NamedActor): NamedActor {
  return { type, id, name };
}
