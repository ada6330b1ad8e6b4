/** Sends a change to the admin API, as a mutation of TanStack Query. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type AdminRequest, ProblemError, send } from './send.ts';

/** Statuses that mean that the shown data has changed since it was read. */
const STALE = [404, 409, 412];

export interface AdminMutation {
  run: (request: AdminRequest) => void;
  isPending: boolean;
  error: Error | null;
  reset: () => void;
}

/**
 * `run` sends the request, then marks the shown data of `resources` (`/keys`, …) as stale. `error` stays until `reset`
 * is called or a request succeeds. A double click does not send the same request twice.
 */
export function useAdminMutation<Answer>(
  resources: readonly string[],
  onDone?: (answer: Answer) => void,
): AdminMutation {
  const queryClient = useQueryClient();
  const refresh = () =>
    Promise.all(resources.map((resource) => queryClient.invalidateQueries({ queryKey: [resource] })));
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (request: AdminRequest) => send<Answer>(request),
    async onSuccess(answer) {
      await refresh();
      onDone?.(answer);
    },
    onError(error) {
      if (error instanceof ProblemError && STALE.includes(error.problem.status)) void refresh();
    },
  });
  // `isPending` changes too late to stop the second click of a double click.
  const isBeingSent = (request: AdminRequest) =>
    queryClient.isMutating({
      predicate: ({ state }) => JSON.stringify(state.variables) === JSON.stringify(request),
    }) > 0;
  const run = (request: AdminRequest) => {
    if (!isBeingSent(request)) mutate(request);
  };
  return { run, isPending, error, reset };
}
