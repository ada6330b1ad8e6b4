/** An administrative act as a mutation. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type AdminRequest, send } from './send.ts';

/**
 * `run` sends the request, then makes what is shown of `resources` (`/keys`, …) stale. `error` stays until `reset` is
 * called or the act succeeds.
 */
export function useAct<Answer>(resources: readonly string[], onDone?: (answer: Answer) => void) {
  const queryClient = useQueryClient();
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: (request: AdminRequest) => send<Answer>(request),
    async onSuccess(answer) {
      await Promise.all(resources.map((resource) => queryClient.invalidateQueries({ queryKey: [resource] })));
      onDone?.(answer);
    },
  });
  return { run: mutate, isPending, error, reset };
}
