import type { InstanceView, Page } from '@erp-proxy/contract';
import {
  Button,
  Checkbox,
  Group,
  Paper,
  PasswordInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { readAdmin } from '../../api/queries.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { printDoctorCommand } from '../../parts/print-instance-command.ts';
import { SandboxCard } from './sandbox-card.tsx';
import { describeCheck, describeInstance, findFaults, SANDBOX, type ServerDraft } from './server-draft.ts';

interface ServerStepProps {
  draft: ServerDraft;
  onChange: (draft: ServerDraft) => void;
  onTest: () => void;
  /** Called when a stored instance is chosen. */
  onChoose: (name: string) => void;
}

export function ServerStep({ draft, onChange, onTest, onChoose }: ServerStepProps) {
  const [areFaultsShown, setFaultsShown] = useState(false);
  const found = findFaults(draft);
  const faults = areFaultsShown ? found : {};
  const input = (name: 'name' | 'url' | 'db' | 'user' | 'apiKey') => ({
    value: draft[name],
    error: faults[name],
    required: true,
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      onChange({ ...draft, [name]: currentTarget.value }),
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    setFaultsShown(true);
    if (Object.keys(found).length === 0) onTest();
  }

  return (
    <Stack gap="md">
      <StoredInstances onChoose={onChoose} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Paper withBorder p="md" component="section" aria-label="Your Odoo server">
          <form onSubmit={submit} noValidate>
            <Stack gap="sm">
              <Text fw={600}>Your Odoo server</Text>
              <TextInput
                label="Name"
                description="Calls use this name"
                placeholder="prod"
                {...input('name')}
              />
              <TextInput label="URL" placeholder="https://erp.example.com" {...input('url')} />
              <SimpleGrid cols={2} spacing="sm">
                <TextInput label="Database" placeholder="prod" {...input('db')} />
                <TextInput label="User id" placeholder="2" inputMode="numeric" {...input('user')} />
              </SimpleGrid>
              <PasswordInput
                label="API key"
                description="In Odoo: Preferences, Account Security, New API Key"
                autoComplete="off"
                {...input('apiKey')}
              />
              <Checkbox
                label="The server has a private address, or plain http"
                checked={draft.isPrivateAllowed}
                onChange={({ currentTarget }) =>
                  onChange({ ...draft, isPrivateAllowed: currentTarget.checked })
                }
              />
              <Group>
                <Button type="submit">Test the connection</Button>
                <AsCode
                  request={describeCheck(draft)}
                  command={printDoctorCommand(describeInstance(draft))}
                />
              </Group>
            </Stack>
          </form>
        </Paper>
        <SandboxCard
          isFilledIn={draft.url === SANDBOX.url}
          onFillIn={() => onChange(SANDBOX)}
          onStarted={onChoose}
        />
      </SimpleGrid>
    </Stack>
  );
}

/** Offers to use an instance that is already stored. */
function StoredInstances({ onChoose }: { onChoose: (name: string) => void }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const [text] = useDebouncedValue(typed, 200);
  const search = text === chosen ? '' : text;
  const { data } = useQuery(readAdmin<Page<InstanceView>>('/instances', { search, limit: 20 }));
  const names = data?.items.map(({ name }) => name) ?? [];
  if (names.length === 0 && typed === '') return null;
  const name = chosen ?? names[0] ?? null;
  return (
    <Paper withBorder p="md" component="section" aria-label="Stored instances">
      <Group align="flex-end" gap="sm">
        <Select
          label="Use a stored instance"
          searchable
          selectFirstOptionOnChange
          allowDeselect={false}
          nothingFoundMessage="No instance matches"
          data={name === null || names.includes(name) ? names : [name, ...names]}
          value={name}
          searchValue={typed}
          onSearchChange={setTyped}
          onChange={setChosen}
        />
        <Button disabled={name === null} onClick={() => name !== null && onChoose(name)}>
          Continue
        </Button>
      </Group>
    </Paper>
  );
}
