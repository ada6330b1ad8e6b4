import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import type { AdminRequest } from '../api/send.ts';
import { AsCode } from './as-code.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { useCloseWhenDone } from './use-close-when-done.ts';

interface ConfirmButtonProps extends ButtonProps {
  label: string;
  /** Says what will happen, and whether it can be undone. */
  consequence: ReactNode;
  /** Called when the person confirms. */
  onConfirm: () => void;
  isPending: boolean;
  error: Error | null;
  onDismiss: () => void;
  /** The same action by a request and a command. */
  code?: { request: AdminRequest; command: string | null };
  /** Colour of the button that confirms. Default: red. */
  confirmColor?: string;
}

/** A button that asks for confirmation. The dialog stays open if the action fails. */
export function ConfirmButton({
  label,
  consequence,
  onConfirm,
  isPending,
  error,
  onDismiss,
  code,
  confirmColor = 'red.9',
  ...props
}: ConfirmButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  useCloseWhenDone(isPending, error, close);
  return (
    <>
      <Button variant="default" {...props} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label}>
        <Stack gap="md">
          <Text size="sm" component="div">
            {consequence}
          </Text>
          <ProblemAlert error={error} onDismiss={onDismiss} />
          <Group justify="flex-end">
            {code !== undefined && <AsCode {...code} />}
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button color={confirmColor} loading={isPending} onClick={onConfirm}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
