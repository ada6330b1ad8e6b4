import type { ReactNode } from 'react';
import type { AdminRequest } from '../api/send.ts';
import type { AdminMutation } from '../api/use-admin-mutation.ts';
import { ConflictAlert, isConflict } from './conflict-alert.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import type { Edited } from './use-edited.ts';

interface SaveProblemProps {
  save: AdminMutation;
  edited: Pick<Edited<object>, 'differences' | 'latestTag' | 'reset'>;
  /** Builds the request for the version with this tag. */
  request: (ifMatch: string) => AdminRequest;
  /** Shown instead of the plain problem. */
  children?: ReactNode;
}

/** Shows why a change was not saved. If somebody else has changed the object meanwhile, asks whose change to keep. */
export function SaveProblem({ save, edited, request, children }: SaveProblemProps) {
  if (!isConflict(save.error)) return children ?? <ProblemAlert error={save.error} onDismiss={save.reset} />;
  return (
    <ConflictAlert
      differences={edited.differences}
      isPending={save.isPending}
      onKeepMine={() => save.run(request(edited.latestTag))}
      onTakeTheirs={() => {
        edited.reset();
        save.reset();
      }}
    />
  );
}
