/** A page that creates a client key. */
import type { NewKeyView } from '@erp-proxy/contract';
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAct } from '../../api/use-act.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { findFault } from '../../parts/find-fault.ts';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { printKeyCommand } from '../../parts/print-key-command.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Section } from '../../parts/section.tsx';
import { TimeInput } from '../../parts/time-input.tsx';
import { readDraft } from './policy-draft.ts';
import { PolicyEditor } from './policy-editor.tsx';

export function NewKeyPage() {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [expiresAt, setExpiresAt] = useState<string | null>(null);
  const [draft, setDraft] = useState({ isRestricted: true, text: '' });
  const [created, setCreated] = useState<NewKeyView | null>(null);
  const create = useAct<NewKeyView>(['/keys'], setCreated);

  const read = readDraft(draft);
  const policy = 'policy' in read ? read.policy : null;
  const body = { name, expires_at: expiresAt, policy };
  const request: AdminRequest = { method: 'POST', path: '/keys', body };
  const isDirty = created === null && (name !== '' || draft.text !== '');

  return (
    <>
      <PageHeader
        title="Create key"
        purpose="A key for one program or person. Its text is shown once, after it was created."
      >
        <AsCode request={request} command={printKeyCommand('keys create', body, Date.now())} />
      </PageHeader>
      <LeaveGuard isDirty={isDirty} />
      <Stack gap="md">
        <Section title="Key">
          <Group align="flex-start" gap="lg">
            <TextInput
              label="Name"
              description="The program or person that uses it, as lists show it"
              placeholder="Web shop"
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
              error={findFault(create.error, 'name')}
              required
              maxLength={200}
              w="min(360px, 100%)"
              data-autofocus
            />
            <TimeInput
              label="Ends"
              description="Calls are refused from then on"
              value={expiresAt}
              onChange={setExpiresAt}
              error={findFault(create.error, 'expires_at')}
              days={[30, 90, 365]}
              none="Never"
            />
          </Group>
        </Section>
        <Section title="Policy">
          <PolicyEditor draft={draft} onChange={setDraft} error={create.error} clientId={null} />
        </Section>
        <ProblemAlert error={create.error} onDismiss={create.reset} />
        <Group justify="flex-end">
          <Button
            onClick={() => create.run(request)}
            loading={create.isPending}
            disabled={name.trim() === '' || 'mistake' in read}
          >
            Create key
          </Button>
        </Group>
      </Stack>
      <SecretOnce
        title={`The key of ${created?.name ?? ''}`}
        secret={created?.key ?? null}
        onClose={() => {
          if (created !== null) void navigate({ to: '/keys/$id', params: { id: created.id }, replace: true });
        }}
      />
    </>
  );
}
