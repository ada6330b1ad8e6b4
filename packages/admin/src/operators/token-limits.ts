/** How the person who has created a personal token limits the token: a token ends with its person. */
import { type Role, tryParse } from '@erp-proxy/contract';
import { readActor } from '@erp-proxy/control/audit';
import type { TokenLimit } from '@erp-proxy/control/keys/operator-tokens';
import type { OperatorToken, Store } from '@erp-proxy/stores/ports';
import type { Grant } from './parse-operators.ts';

export interface TokenLimitsOptions {
  store: Pick<Store, 'deniedSubjects' | 'operators'>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Time after a sign-in or a renewal for which the tokens of a person work. */
  confirmedForMs: number;
}

/** The result rejects if the store fails. */
export function createTokenLimits({ store, clock, confirmedForMs }: TokenLimitsOptions) {
  return async ({ createdBy }: Pick<OperatorToken, 'createdBy'>): Promise<TokenLimit> => {
    const creator = readActor(tryParse(createdBy));
    if (creator?.type !== 'person') return null;
    const [denied, person] = await Promise.all([
      store.deniedSubjects.find(creator.id),
      store.operators.find(creator.id),
    ]);
    if (denied !== null) return { bar: 'denied' };
    if (person === null || clock() - person.confirmedAt >= confirmedForMs) return { bar: 'unconfirmed' };
    if (person.granted === null) return { bar: 'no_role' };
    const { role, instances }: Omit<Grant, 'role'> & { role: Role | null } = JSON.parse(person.granted);
    return role === null ? { bar: 'no_role' } : { role, instances };
  };
}
