import { useBlocker } from '@tanstack/react-router';
import { LeaveDialog } from './leave-dialog.tsx';
import { useUnsavedInput } from './unsaved-input.ts';

/** Asks before a page with unsaved input is left: by a link, by Back, by closing the tab or by signing out. */
export function LeaveGuard({ isDirty }: { isDirty: boolean }) {
  useUnsavedInput(isDirty);
  const { status, proceed, reset } = useBlocker({
    // Does not ask if only a filter or a tab of the same page changes.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <LeaveDialog
      isOpen={status === 'blocked'}
      title="Leave without saving?"
      leaveLabel="Leave"
      onStay={() => reset?.()}
      onLeave={() => proceed?.()}
    />
  );
}
