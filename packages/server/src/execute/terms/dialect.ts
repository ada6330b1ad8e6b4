/**
 * What differs between callers of our own routes and callers that speak another gateway's wire format, as one value that
 * goes along with a request: a step uses what the value says and never asks which route was called.
 */
import { type CompatibleErrorType, KEY_HEADER, type ProxyErrorType } from '@erp-proxy/contract';

export interface Dialect {
  /** The member that holds address and credentials of the server; empty where the body itself holds them. */
  instanceAt: 'erp_instance' | 'odoo_instance' | '';
  /** Headers that may hold the client key; `authorization`, where it is a bearer token, is the last. Errors name the first. */
  keyHeaders: readonly [string, ...string[]];
  /** Errors whose code and HTTP status are not those of the table. */
  errors: Partial<Record<ProxyErrorType | CompatibleErrorType, { code: number; httpStatus: number }>>;
  /** Named arguments that callers send by method, though the method has none of them. */
  surplusArguments: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Our own contract. */
export const OWN_DIALECT: Dialect = {
  instanceAt: 'erp_instance',
  keyHeaders: [KEY_HEADER, 'authorization'],
  errors: {},
  surplusArguments: new Map(),
};

/** A text of ours about the server's address or credentials, with their members as the caller wrote them. */
export function nameMembers(text: string, { instanceAt }: Dialect): string {
  if (instanceAt === 'erp_instance') return text;
  return text.replaceAll('erp_instance.', instanceAt === '' ? '' : `${instanceAt}.`);
}
