/** Chooses the instance whose models and fields are offered while a policy is written. */
import type { InstanceView, Page } from '@erp-proxy/contract';
import { Group, Loader, Select, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { listAllowedInstances } from './allowed-instances.ts';
import type { ReadDraft } from './policy-draft.ts';
import type { LiveNames } from './use-live-names.ts';

const SHOWN_MAX = 100;

interface NameSourceProps {
  read: ReadDraft;
  value: string | null;
  onChange: (instance: string | null) => void;
  live: LiveNames;
}

/** Offers the instances that the policy allows. */
export function NameSource({ read, value, onChange, live }: NameSourceProps) {
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed, 200);
  const search = text === value ? '' : text;
  const { data } = useQuery(readAdmin<Page<InstanceView>>('/instances', { search, limit: SHOWN_MAX }));
  const allowed = listAllowedInstances(read, data?.items.map(({ name }) => name) ?? []);
  const count = Object.keys(live.models).length;
  return (
    <Stack gap={4}>
      <Group gap="sm" align="flex-end">
        <Select
          label="Complete names from"
          description="Models and fields of an instance that the policy allows. No server is asked before you choose one."
          placeholder={allowed.length === 0 ? 'The policy allows no stored instance yet' : 'No instance'}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Complete from no instance' }}
          selectFirstOptionOnChange
          nothingFoundMessage="No instance that the policy allows matches"
          data={value === null || allowed.includes(value) ? allowed : [value, ...allowed]}
          value={value}
          searchValue={typed}
          onSearchChange={setTyped}
          onChange={onChange}
          rightSection={live.isLoading ? <Loader size={14} /> : undefined}
          w="min(420px, 100%)"
        />
        <Text size="xs" c="dimmed" role="status" pb={8}>
          {count > 0 && `${count} models`}
        </Text>
      </Group>
      <ProblemAlert error={live.error} />
    </Stack>
  );
}
