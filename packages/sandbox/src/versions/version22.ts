/** Odoo 22 as announced: 19 without /jsonrpc (docs/odoo-facts.md#deprecation). There are no recordings of Odoo 22. */
import type { VersionDefinition } from './version-definition.ts';
import { version19 } from './version19.ts';

export const version22: VersionDefinition = {
  ...version19,
  version: 22,
  serverVersion: '22.0',
  wire: { ...version19.wire, jsonrpc: false },
};
