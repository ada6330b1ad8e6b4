/**
 * The differences between the wire formats of the routes: that of this proxy, and that of another gateway. A request
 * has one dialect. Steps use its members and never ask which route was called.
 */
import { type CompatibleErrorType, KEY_HEADER, type ProxyErrorType } from '@erp-proxy/contract';

export interface Dialect {
  /** The member with address and credentials of the server; empty if the body itself has them. */
  instanceAt: 'erp_instance' | 'odoo_instance' | '';
  /**
   * Headers that may have the client key. The last one is `authorization`, with a bearer token. Errors name the first.
   */
  keyHeaders: readonly [string, ...string[]];
  /** Whether `authorization` may have a token for a reverse proxy beside a key in another header. */
  allowsOtherTokens: boolean;
  /** Errors whose code and HTTP status differ from the table. */
  errors: Partial<Record<ProxyErrorType | CompatibleErrorType, { code: number; httpStatus: number }>>;
  /** By method: named arguments that callers send although the method does not have them. */
  surplusArguments: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether the header `prefer` is read. */
  takesPreferences: boolean;
  /**
   * Value of `www-authenticate` that says where callers get tokens (RFC 9728 section 5.1); null if tokens are not
   * accepted.
   */
  challenge: string | null;
  /** The scope that an application needs, whose token this proxy has issued. */
  scope: 'erp' | 'mcp';
}

/** The wire format of this proxy. */
export const OWN_DIALECT: Dialect = {
  instanceAt: 'erp_instance',
  keyHeaders: [KEY_HEADER, 'authorization'],
  allowsOtherTokens: true,
  errors: {},
  surplusArguments: new Map(),
  takesPreferences: true,
  challenge: null,
  scope: 'erp',
};

/** Renames the members of the instance in a text to those of the dialect. */
export function nameMembers(text: string, { instanceAt }: Dialect): string {
  if (instanceAt === 'erp_instance') return text;
  return text.replaceAll('erp_instance.', instanceAt === '' ? '' : `${instanceAt}.`);
}
