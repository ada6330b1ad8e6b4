/** Inputs for the members of a key, without its policy. */
import { Group, TextInput } from '@mantine/core';
import { findFault } from '../../parts/find-fault.ts';
import { TimeInput } from '../../parts/time-input.tsx';
import type { KeyDraft } from './key-draft.ts';

interface KeyFieldsProps {
  draft: KeyDraft;
  onChange: (members: Partial<KeyDraft>) => void;
  error: Error | null;
  /** False: the key exists. The person whose calls it makes cannot be changed. */
  isNew: boolean;
}

export function KeyFields({ draft, onChange, error, isNew }: KeyFieldsProps) {
  return (
    <Group align="flex-start" gap="lg">
      <TextInput
        label="Name"
        description="The program or person that uses it, as lists show it"
        placeholder="Web shop"
        value={draft.name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
        error={findFault(error, 'name')}
        required
        maxLength={200}
        w="min(360px, 100%)"
      />
      <TimeInput
        label="Ends"
        description="Calls are refused from then on"
        value={draft.expires_at}
        onChange={(expires_at) => onChange({ expires_at })}
        error={findFault(error, 'expires_at')}
        days={[30, 90, 365]}
        none="Never"
      />
      {(isNew || draft.for !== null) && (
        <TextInput
          label="For a person"
          description={
            isNew ? 'Whose calls it makes, if one. It cannot be changed.' : 'It cannot be changed.'
          }
          placeholder="corp/3f6c"
          value={draft.for ?? ''}
          onChange={({ currentTarget: { value } }) => onChange({ for: value === '' ? null : value })}
          error={findFault(error, 'for')}
          disabled={!isNew}
          spellCheck={false}
          w="min(360px, 100%)"
        />
      )}
    </Group>
  );
}
