import { Select } from '@mantine/core';

interface StateSelectProps<State extends string> {
  states: readonly State[];
  /** Undefined: all states. */
  value: State | undefined;
  onChange: (state: State | undefined) => void;
}

/** An input that filters a list by the state of its rows. */
export function StateSelect<State extends string>({ states, value, onChange }: StateSelectProps<State>) {
  return (
    <Select<State>
      aria-label="State"
      placeholder="All states"
      clearable
      data={states}
      value={value ?? null}
      onChange={(state) => onChange(state ?? undefined)}
    />
  );
}
