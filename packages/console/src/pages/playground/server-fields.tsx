/** Chooses the server of the call: a stored instance, or an address whose key stays in this tab. */
import type { InstanceView, KeyView, Page } from '@erp-proxy/contract';
import {
  Anchor,
  Group,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { mayAll } from '../../api/session.ts';
import type { CallForm } from './call-form.ts';
import type { ChangeForm } from './use-call-form.ts';

interface ServerFieldsProps {
  form: CallForm;
  onChange: ChangeForm;
  apiKey: string;
  onApiKeyChange: (apiKey: string) => void;
}

export function ServerFields({ form, onChange, apiKey, onApiKeyChange }: ServerFieldsProps) {
  const [isAddress, setAddress] = useState(form.instance === '' && form.url !== '');
  return (
    <Stack gap="xs">
      {/* Who is limited to some of the instances may send no credentials of their own. */}
      <SegmentedControl
        size="xs"
        disabled={!mayAll()}
        aria-label="Kind of server"
        data={[
          { value: 'stored', label: 'Stored instance' },
          { value: 'address', label: 'Address' },
        ]}
        value={isAddress ? 'address' : 'stored'}
        onChange={(kind) => {
          setAddress(kind === 'address');
          onChange(kind === 'address' ? { instance: '' } : { url: '', db: '', user: '' });
        }}
      />
      {isAddress ? (
        <>
          <TextInput
            label="URL"
            placeholder="https://erp.example.com"
            value={form.url}
            onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
          />
          <Group grow gap="xs" align="flex-start">
            <TextInput
              label="Database"
              value={form.db}
              onChange={({ currentTarget }) => onChange({ db: currentTarget.value })}
            />
            <TextInput
              label="User id"
              inputMode="numeric"
              value={form.user}
              error={form.user !== '' && !/^[1-9]\d*$/.test(form.user) ? 'A positive number' : undefined}
              onChange={({ currentTarget }) => onChange({ user: currentTarget.value })}
            />
          </Group>
          <PasswordInput
            label="API key of the user in Odoo"
            description="It stays in this tab, and is gone when you load the page again"
            autoComplete="off"
            value={apiKey}
            onChange={({ currentTarget }) => onApiKeyChange(currentTarget.value)}
          />
        </>
      ) : (
        <InstanceSelect value={form.instance} onChange={(instance) => onChange({ instance })} />
      )}
      <KeySelect value={form.key} onChange={(key) => onChange({ key })} />
    </Stack>
  );
}

function InstanceSelect({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed === value ? '' : typed, 200);
  const { data } = useQuery(readAdmin<Page<InstanceView>>('/instances', { search, limit: 20 }));
  const names = data?.items.map(({ name }) => name) ?? [];
  if (data?.items.length === 0 && search === '' && value === '') {
    return (
      <Text size="sm" c="dimmed">
        No instance is stored yet.{' '}
        <Anchor underline="always" renderRoot={(props) => <Link to="/start" {...props} />}>
          Add one
        </Anchor>
        , or type an address.
      </Text>
    );
  }
  return (
    <Select
      label="Instance"
      placeholder="Choose an instance"
      searchable
      selectFirstOptionOnChange
      allowDeselect={false}
      nothingFoundMessage="No instance matches"
      data={value === '' || names.includes(value) ? names : [value, ...names]}
      value={value === '' ? null : value}
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={(name) => onChange(name ?? '')}
    />
  );
}

function KeySelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed, 200);
  const { data } = useQuery(readAdmin<Page<KeyView>>('/keys', { state: 'active', limit: 20 }));
  const found = useQuery({
    ...readAdmin<Page<KeyView>>('/keys', { state: 'active', search, limit: 20 }),
    enabled: search !== '',
  });
  const keys = new Map([...(data?.items ?? []), ...(found.data?.items ?? [])].map((key) => [key.id, key]));
  const options = [...keys.values()].map(({ id, name }) => ({ value: id, label: `${name} (${id})` }));
  if (value !== '' && !keys.has(value)) options.unshift({ value, label: value });
  return (
    <Select
      label="As key"
      description="Shows what its policy allows"
      placeholder="No key: no policy restricts the call"
      searchable
      selectFirstOptionOnChange
      clearable
      clearButtonProps={{ 'aria-label': 'Use no key' }}
      nothingFoundMessage="No key matches"
      data={options}
      value={value === '' ? null : value}
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={(id) => onChange(id ?? '')}
    />
  );
}
