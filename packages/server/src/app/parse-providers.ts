/** Parses the settings that name identity providers: whose tokens are accepted, and by whom persons sign in. */
import { type OperatorProvider, parseOperators } from '@erp-proxy/admin/operators';
import { type Issuer, parseIssuers, parseSignIn, type SignIn } from '@erp-proxy/control/tokens/issuers';
import type { Settings } from '../config/schema.ts';

export interface Providers {
  readonly issuers: readonly Issuer[];
  /** Null: no operators are configured. */
  readonly provider: OperatorProvider | null;
  /** Null: nobody signs in for an application. */
  readonly signIn: SignIn | null;
  /** Each error begins with the name of its setting. */
  readonly errors: readonly string[];
  /** About settings that work in another way than they look. */
  readonly warnings: readonly string[];
}

export function parseProviders(
  settings: Pick<Settings, 'auth' | 'http' | 'operators' | 'signIn'>,
): Providers {
  const { auth } = settings;
  const { issuers, errors: issuerErrors } = parseIssuers(settings.auth);
  const { provider, errors: operatorErrors, warnings } = parseOperators(settings.operators, auth.issuers);
  const errors = [...issuerErrors, ...operatorErrors];
  // Errors of a provider would be reported a second time as those of signIn.
  if (errors.length > 0) return { issuers, provider, signIn: null, errors, warnings };
  const surroundings = {
    publicUrl: settings.http.publicUrl,
    issuers,
    policies: auth.policies,
    operators: provider?.name ?? null,
  };
  return { issuers, provider, warnings, ...parseSignIn(settings.signIn, surroundings) };
}
