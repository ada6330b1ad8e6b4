/** A page that creates a client key. */
import type { NewKeyView } from '@erp-proxy/contract';
import { Button, Group, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { isSame } from '../../parts/compare-members.ts';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { printKeyCommand } from '../../parts/print-key-command.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { Section } from '../../parts/section.tsx';
import { EMPTY_KEY } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';
import { readDraft } from './policy-draft.ts';
import { PolicyEditor } from './policy-editor.tsx';

export function NewKeyPage() {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(EMPTY_KEY);
  const [policyDraft, setPolicyDraft] = useState({ isRestricted: true, text: '' });
  const [created, setCreated] = useState<NewKeyView | null>(null);
  const create = useAdminMutation<NewKeyView>(['/keys'], setCreated);

  const read = readDraft(policyDraft);
  const policy = 'policy' in read ? read.policy : null;
  const body = { ...draft, policy };
  const request: AdminRequest = { method: 'POST', path: '/keys', body };
  const isDirty = created === null && (!isSame(draft, EMPTY_KEY) || policyDraft.text !== '');

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
          <KeyFields
            draft={draft}
            onChange={(members) => setDraft({ ...draft, ...members })}
            error={create.error}
            isNew
          />
        </Section>
        <Section title="Policy">
          <PolicyEditor draft={policyDraft} onChange={setPolicyDraft} error={create.error} clientId={null} />
        </Section>
        <ProblemAlert error={create.error} onDismiss={create.reset} />
        <Group justify="flex-end">
          <Button
            onClick={() => create.run(request)}
            loading={create.isPending}
            disabled={draft.name.trim() === '' || 'mistake' in read}
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
