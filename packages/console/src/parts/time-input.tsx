import { Button, Group, TextInput } from '@mantine/core';
import { addDays, printLocalTime, readLocalTime } from './local-time.ts';

interface TimeInputProps {
  label: string;
  description?: string;
  /** The time as ISO 8601; null: none. */
  value: string | null;
  onChange: (at: string | null) => void;
  error: string | undefined;
  /** Quick choices, in days from now. */
  days?: readonly number[];
  /** Label of the choice to have no time. */
  none: string;
}

/** An input for a point in time, in the time zone of the browser. */
export function TimeInput({ label, description, value, onChange, error, days = [], none }: TimeInputProps) {
  return (
    <Group align="flex-end" gap="xs">
      <TextInput
        type="datetime-local"
        label={label}
        description={description}
        value={printLocalTime(value)}
        onChange={({ currentTarget }) => onChange(readLocalTime(currentTarget.value))}
        error={error}
      />
      {days.map((count) => (
        <Button key={count} variant="default" onClick={() => onChange(addDays(count))}>
          {count} days
        </Button>
      ))}
      <Button
        variant={value === null ? 'light' : 'default'}
        aria-pressed={value === null}
        onClick={() => onChange(null)}
      >
        {none}
      </Button>
    </Group>
  );
}
