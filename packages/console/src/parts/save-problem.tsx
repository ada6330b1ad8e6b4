import type { ReactNode } from 'react';
import type { AdminRequest } from '../api/send.ts';
import type { Act } from '../api/use-act.ts';
import { ConflictAlert, isConflict } from './conflict-alert.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import type { Edited } from './use-edited.ts';

interface SaveProblemProps {
  save: Act;
  edited: Pick<Edited<object>, 'differences' | 'latestTag' | 'reset'>;
  /** The change of the version with this tag. */
  request: (ifMatch: string) => AdminRequest;
  /** In place of the plain problem. */
  children?: ReactNode;
}

/** Why a change was not saved. If somebody else has changed the object meanwhile, the person decides which wins. */
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
