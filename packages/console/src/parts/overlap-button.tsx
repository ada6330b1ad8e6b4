import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { AdminRequest } from '../api/send.ts';
import { AsCode } from './as-code.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { useCloseWhenDone } from './use-close-when-done.ts';

interface OverlapButtonProps {
  label: string;
  /** Says what happens to the old secret. */
  consequence: string;
  /** Returns the request and the command for an overlap in seconds. */
  describe: (overlapSeconds: number) => { request: AdminRequest; command: string };
  onConfirm: (request: AdminRequest) => void;
  isPending: boolean;
  error: Error | null;
  onDismiss: () => void;
}

const OVERLAPS = [
  { value: '0', label: 'It ends at once' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
];

/** Asks how long an old secret stays valid after it was replaced. */
export function OverlapButton({
  label,
  consequence,
  describe,
  onConfirm,
  isPending,
  error,
  onDismiss,
}: OverlapButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  useCloseWhenDone(isPending, error, close);
  const [overlap, setOverlap] = useState('86400');
  const code = describe(Number(overlap));
  return (
    <>
      <Button variant="default" onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label}>
        <Stack gap="md">
          <Text size="sm">{consequence}</Text>
          <Select
            label="The old one stays valid for"
            data={OVERLAPS}
            value={overlap}
            allowDeselect={false}
            onChange={(value) => setOverlap(value ?? overlap)}
            data-autofocus
          />
          <ProblemAlert error={error} onDismiss={onDismiss} />
          <Group justify="flex-end">
            <AsCode {...code} />
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button loading={isPending} onClick={() => onConfirm(code.request)}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
