import type { InstanceView, MethodsView, Page, StatisticsView } from '@erp-proxy/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { addDays } from '../../parts/local-time.ts';
import { COMMON_ACTIONS, COMMON_MODELS, type KnownNames } from './suggest-policy.ts';
import type { LiveNames } from './use-live-names.ts';

const GROUPS_MAX = 100;
const DAYS = 30;

/**
 * Names to choose from: stored instances, models and methods of recent calls, and known methods of Odoo. `live`: models
 * of the chosen server.
 */
export function useKnownNames(live: LiveNames['models']): KnownNames {
  const [since] = useState(() => addDays(-DAYS).slice(0, 10));
  const query = { since, step: 'hour', limit: GROUPS_MAX };
  const { data: instances } = useQuery(readAdmin<Page<InstanceView>>('/instances', { limit: GROUPS_MAX }));
  const { data: models } = useQuery(readAdmin<StatisticsView>('/stats', { ...query, by: 'model' }));
  const { data: actions } = useQuery(readAdmin<StatisticsView>('/stats', { ...query, by: 'action' }));
  const { data: methods } = useQuery({
    ...readAdmin<MethodsView>('/methods'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(
    () => ({
      instances: instances?.items.map(({ name }) => name) ?? [],
      models: mergeNames(models, [...COMMON_MODELS, ...Object.keys(live)]),
      labels: live,
      actions: mergeNames(actions, [
        ...COMMON_ACTIONS,
        ...(methods?.methods.map(({ action }) => action) ?? []),
      ]),
    }),
    [instances, models, actions, methods, live],
  );
}

function mergeNames(statistics: StatisticsView | undefined, common: readonly string[]): string[] {
  const called = statistics?.groups.map(({ name }) => name).filter((name) => name !== null) ?? [];
  return [...new Set([...called, ...common])];
}
