/** How the person who has created a personal token limits the token: a token ends with its person. */
import { tryParse } from '@erp-proxy/contract';
import { readActor } from '@erp-proxy/control/audit';
import type { TokenLimit } from '@erp-proxy/control/keys/operator-tokens';
import type { OperatorToken, Store } from '@erp-proxy/stores/ports';
import { findRuleForKnown } from './known-claims.ts';
import type { OperatorProvider } from './parse-operators.ts';

export interface TokenLimitsOptions {
  store: Pick<Store, 'deniedSubjects' | 'operators'>;
  /** Null: nobody can sign in, so that nobody has a role. */
  provider: Pick<OperatorProvider, 'rules' | 'claimsVersion'> | null;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Time after a sign-in or a renewal for which the tokens of a person work. */
  confirmedForMs: number;
}

/** The result rejects if the store fails. The present rules decide, by the claims of the last sign-in or renewal. */
export function createTokenLimits({ store, provider, clock, confirmedForMs }: TokenLimitsOptions) {
  return async ({ createdBy }: Pick<OperatorToken, 'createdBy'>): Promise<TokenLimit> => {
    const creator = readActor(tryParse(createdBy));
    if (creator?.type !== 'person') return null;
    const [denied, person] = await Promise.all([
      store.deniedSubjects.find(creator.id),
      store.operators.find(creator.id),
    ]);
    if (denied !== null) return { bar: 'denied' };
    if (person === null || clock() - person.confirmedAt >= confirmedForMs) return { bar: 'unconfirmed' };
    if (person.granted === null || provider === null) return { bar: 'no_role' };
    const rule = findRuleForKnown(provider, person.granted);
    if (rule === 'unknown') return { bar: 'unconfirmed' };
    return rule === null ? { bar: 'no_role' } : { role: rule.role, instances: rule.instances };
  };
}
