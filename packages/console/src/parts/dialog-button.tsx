import type { Role } from '@erp-proxy/contract';
import { Button, type ButtonProps, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import type { AdminRequest } from '../api/send.ts';
import { mayAs } from '../api/session.ts';
import type { AdminMutation } from '../api/use-admin-mutation.ts';
import { AsCode } from './as-code.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface DialogButtonProps extends ButtonProps {
  label: string;
  /** Title of the dialog. Default: the label. */
  title?: string;
  /** Label of the button that sends the request. Default: the label. */
  confirmLabel?: string;
  confirmColor?: string;
  mutation: AdminMutation;
  /** What is sent. Null: the input is not complete. */
  request: AdminRequest | null;
  /** The corresponding command; null if there is none. */
  command: string | null;
  /** The role that may send the request; others do not see the button. Default: `operator`. */
  needs?: Role;
  /** Inputs, or what will happen, and whether it can be undone. */
  children: ReactNode;
}

/** A button that opens a dialog, which sends a request. The dialog stays open if the request fails. */
export function DialogButton({
  label,
  title = label,
  confirmLabel = label,
  confirmColor = 'indigo',
  mutation: { run, isPending, error, reset },
  request,
  command,
  needs = 'operator',
  children,
  ...props
}: DialogButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const wasPending = useRef(false);
  useEffect(() => {
    if (wasPending.current && !isPending && error === null) close();
    wasPending.current = isPending;
  }, [isPending, error, close]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (request !== null) run(request);
  };
  if (!mayAs(needs)) return null;
  return (
    <>
      <Button variant="default" {...props} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} size="lg">
        <form onSubmit={submit}>
          <Stack gap="md" fz="sm">
            <div>{children}</div>
            <ProblemAlert error={error} onDismiss={reset} />
            <Group justify="flex-end">
              {request !== null && <AsCode request={request} command={command} />}
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" color={confirmColor} loading={isPending} disabled={request === null}>
                {confirmLabel}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
