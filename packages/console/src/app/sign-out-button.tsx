import { ActionIcon, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { signOut } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { LeaveDialog } from '../parts/leave-dialog.tsx';
import { hasUnsavedInput } from '../parts/unsaved-input.ts';

/** Ends the session. Asks first if a form of the page has unsaved input, which is lost with the page. */
export function SignOutButton({ onError }: { onError: (error: Error) => void }) {
  const [isAsked, { open, close }] = useDisclosure(false);
  const leave = () => {
    close();
    signOut().catch(onError);
  };
  return (
    <>
      <Tooltip label="Sign out">
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Sign out"
          onClick={() => (hasUnsavedInput() ? open() : leave())}
        >
          <Icon name="sign-out" />
        </ActionIcon>
      </Tooltip>
      <LeaveDialog
        isOpen={isAsked}
        title="Sign out without saving?"
        leaveLabel="Sign out"
        onStay={close}
        onLeave={leave}
      />
    </>
  );
}
