/** Chooses a stored object. The server searches, because there may be thousands. */
import { Combobox, Loader, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { readAdmin } from '../api/queries.ts';
import type { Query } from '../api/send.ts';

interface ObjectSelectProps<Item> {
  label: string;
  description?: string;
  placeholder?: string;
  /** Path of a list in the admin API that takes `search`, such as `/instances`. */
  path: string;
  filters?: Query;
  /** Returns the id of an item, which may also be typed. */
  idOf: (item: Item) => string;
  describe: (item: Item) => string;
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  required?: boolean;
}

const SHOWN_MAX = 20;

export function ObjectSelect<Item>({
  path,
  filters = {},
  idOf,
  describe,
  value,
  onChange,
  ...input
}: ObjectSelectProps<Item>) {
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const [search] = useDebouncedValue(value, 200);
  const { data, isFetching } = useQuery({
    ...readAdmin<{ items: Item[] }>(path, { ...filters, search, limit: SHOWN_MAX }),
    enabled: combobox.dropdownOpened,
  });
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(chosen) => {
        onChange(chosen);
        combobox.closeDropdown();
      }}
    >
      <Combobox.Target>
        <TextInput
          {...input}
          value={value}
          autoComplete="off"
          spellCheck={false}
          rightSection={isFetching ? <Loader size={14} /> : null}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
          onChange={({ currentTarget }) => {
            onChange(currentTarget.value);
            combobox.openDropdown();
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options mah={280} style={{ overflowY: 'auto' }}>
          {data?.items.map((item) => (
            <Combobox.Option key={idOf(item)} value={idOf(item)}>
              {describe(item)}
            </Combobox.Option>
          ))}
          {data?.items.length === 0 && <Combobox.Empty>Nothing matches.</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
