import type { ApprovalState } from '@erp-proxy/contract';
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { optional, readChoice, readText, type SearchValues } from '../../parts/search-values.ts';

export const APPROVAL_STATES = [
  'pending',
  'approved',
  'refused',
  'used',
  'expired',
] as const satisfies ApprovalState[];

export const approvalsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  validateSearch: (search: SearchValues) =>
    optional({
      /** Absent: shows the calls that wait for a decision. */
      state: readChoice(search['state'], [...APPROVAL_STATES, 'all']),
      cursor: readText(search['cursor']),
    }),
});

export const approvalRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals/$id',
});
