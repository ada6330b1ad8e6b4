import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.ts';
import { readChoice, readText, type SearchValues } from '../../parts/search-values.ts';

export const STEPS = ['server', 'test', 'key', 'call', 'code'] as const;
export type StepName = (typeof STEPS)[number];

export const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/start',
  validateSearch: (search: SearchValues) => ({
    step: readChoice(search['step'], STEPS),
    /** Name of the stored instance. */
    instance: readText(search['instance']),
    /** Id of the key that was created. */
    key: readText(search['key']),
    /** Id of the template from which the policy was made. */
    template: readText(search['template']),
  }),
});
