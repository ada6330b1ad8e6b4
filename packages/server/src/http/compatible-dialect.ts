/**
 * How requests in ODXProxy's wire format differ from those in our own. docs/compatibility.md describes the differences
 * for callers.
 */
import { COMPATIBLE_CHANGES, KEY_HEADER } from '@erp-proxy/contract';
import type { Dialect } from '../execute/terms/dialect.ts';

export const COMPATIBLE_DIALECT: Dialect = {
  instanceAt: 'odoo_instance',
  keyHeaders: ['x-api-key', 'apikey', KEY_HEADER, 'authorization'],
  // `authorization` is one of the headers for the key here: these clients send no other token in it.
  allowsOtherTokens: false,
  errors: COMPATIBLE_CHANGES,
  // ODXProxy's Java client sends these arguments with every search; Odoo would raise a TypeError.
  surplusArguments: new Map([['search_count', new Set(['fields', 'order', 'offset'])]]),
  takesPreferences: false,
  challenge: null,
};
