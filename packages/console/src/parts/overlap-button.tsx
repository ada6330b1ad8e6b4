import { Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { AdminRequest } from '../api/send.ts';
import type { AdminMutation } from '../api/use-admin-mutation.ts';
import { DialogButton } from './dialog-button.tsx';

interface OverlapButtonProps {
  label: string;
  /** Says what happens to the old secret. */
  consequence: string;
  /** Returns the request and the command for an overlap in seconds. */
  describe: (overlapSeconds: number) => { request: AdminRequest; command: string };
  mutation: AdminMutation;
}

const OVERLAPS = [
  { value: '0', label: 'It ends at once' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
];

/** Asks how long an old secret stays valid after it was replaced. */
export function OverlapButton({ label, consequence, describe, mutation }: OverlapButtonProps) {
  const [overlap, setOverlap] = useState('86400');
  return (
    <DialogButton label={label} mutation={mutation} {...describe(Number(overlap))}>
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
      </Stack>
    </DialogButton>
  );
}
