/** Opens an instance that is not stored, so that its server can be checked. */
import type { InstanceCheckInput } from '@erp-proxy/contract';
import { InputError } from './input.ts';
import { readInput } from './members.ts';
import { type Instance, toInstance } from './views.ts';

/** Identity of the draft. No error mentions it. */
const DRAFT = { id: 'draft', name: 'draft' };
/** Placeholder for the id of the user until the login is found. */
const NOT_YET_KNOWN = 1;

const LOGIN = /^[^\p{Cc}]{1,256}$/u;

/**
 * Applies the rules for the members of a stored instance. `login` null: the user id is known. Throws an {@link
 * InputError}.
 */
export function openDraft({ login, ...input }: InstanceCheckInput): {
  instance: Instance;
  login: string | null;
} {
  if (login !== undefined && input.user_id !== undefined) throw refuseLogin('excludes `user_id`');
  if (login !== undefined && !LOGIN.test(login)) throw refuseLogin('must be the login of a user in Odoo');
  const members = { ...input, ...(login !== undefined && { user_id: NOT_YET_KNOWN }), name: DRAFT.name };
  return { instance: toInstance(DRAFT, readInput(members)), login: login ?? null };
}

function refuseLogin(message: string): InputError {
  return new InputError([{ path: 'login', message }]);
}
