/** Builds the audit search for the calls of a statistics group. Pure. */
import type { StatisticsDimension } from '@erp-proxy/contract';

export function findGroupSearch(by: StatisticsDimension, name: string): Record<string, string> {
  switch (by) {
    case 'key':
      return { client_id: name };
    case 'instance':
      // For a call with its own credentials, the name of the instance is the address of the server.
      return name.includes('://') ? { upstream: name } : { instance: name };
    default:
      return { [by]: name };
  }
}
