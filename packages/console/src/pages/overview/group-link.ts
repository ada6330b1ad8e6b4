/** The search for the calls of a group of the statistics. Pure. */
import type { StatisticsDimension } from '@erp-proxy/contract';

export function findGroupSearch(by: StatisticsDimension, name: string): Record<string, string> {
  switch (by) {
    case 'key':
      return { client_id: name };
    case 'instance':
      // A call with its own credentials has the address of its server as its instance.
      return name.includes('://') ? { upstream: name } : { instance: name };
    default:
      return { [by]: name };
  }
}
