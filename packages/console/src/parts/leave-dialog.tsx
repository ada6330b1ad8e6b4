import { Button, Group, Modal, Stack, Text } from '@mantine/core';

interface LeaveDialogProps {
  isOpen: boolean;
  title: string;
  /** Label of the button that discards the input. */
  leaveLabel: string;
  onStay: () => void;
  onLeave: () => void;
}

/** Asks before unsaved input is lost. */
export function LeaveDialog({ isOpen, title, leaveLabel, onStay, onLeave }: LeaveDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onStay} title={title}>
      <Stack gap="md">
        <Text size="sm">What you have changed on this page is lost.</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onStay}>
            Stay
          </Button>
          <Button color="red.9" onClick={onLeave}>
            {leaveLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
