import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { Icon } from './icon.tsx';

interface SearchInputProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A search input. Calls `onChange` after a pause in typing. */
export function SearchInput({ label, value = '', onChange }: SearchInputProps) {
  const [typed, setTyped] = useState(value);
  const report = useDebouncedCallback((text: string) => onChange(text === '' ? undefined : text), 250);
  // The browser's Back and Forward change the filter, too.
  useEffect(() => setTyped(value), [value]);
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      type="search"
      leftSection={<Icon name="search" size={16} />}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        report(currentTarget.value);
      }}
    />
  );
}
