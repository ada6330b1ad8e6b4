/** Verifies the chain of the audit, and shows its head, against which a later state can be verified. */
import type { AuditVerification } from '@erp-proxy/contract';
import { Alert, Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { quote } from '../../parts/print-request.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';

export function VerifyButton() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [head, setHead] = useState('');
  const [result, setResult] = useState<AuditVerification | null>(null);
  const { run, isPending, error, reset } = useAdminMutation<AuditVerification>([], setResult);
  const request: AdminRequest = { method: 'GET', path: '/audit/verify', query: { head: head.trim() } };
  const verify = (event: FormEvent) => {
    event.preventDefault();
    setResult(null);
    run(request);
  };
  return (
    <>
      <Button variant="default" size="xs" leftSection={<Icon name="check" size={14} />} onClick={open}>
        Verify
      </Button>
      <Modal opened={isOpen} onClose={close} title="Verify the audit" size="lg">
        <form onSubmit={verify}>
          <Stack gap="md">
            <Text size="sm">
              Each record is chained to the one before it. Verifying finds records that were changed, removed
              or inserted in the store. A large audit takes a while.
            </Text>
            <TextInput
              label="Head of an earlier verification"
              description="Optional: proves that no record was removed from the end since then."
              placeholder="81920:5d41…"
              value={head}
              onChange={(event) => setHead(event.currentTarget.value)}
            />
            <ProblemAlert error={error} onDismiss={reset} />
            {result !== null && <Result result={result} />}
            <Group justify="flex-end">
              <AsCode
                request={request}
                command={`audit verify${head.trim() === '' ? '' : ` --head ${quote(head.trim())}`}`}
              />
              <Button type="submit" loading={isPending}>
                Verify audit
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

function Result({
  result: { intact, first_seq: first, last_seq: last, head, fault },
}: {
  result: AuditVerification;
}) {
  return (
    <Alert
      role="status"
      color={intact ? 'teal' : 'red'}
      icon={<Icon name={intact ? 'check' : 'warning'} />}
      title={intact ? 'The audit is intact' : 'The audit was changed'}
    >
      <Stack gap="xs">
        <Text size="sm">
          {intact
            ? `Records ${first} to ${last} are present and unchanged.`
            : `Record ${fault?.seq ?? '–'}: ${fault?.problem ?? 'unknown'}`}
        </Text>
        {head === null ? (
          <Text size="sm">The store has lost the end of the chain. Restore a backup.</Text>
        ) : (
          <>
            <Text size="sm">
              Keep this head where an administrator of the store cannot write. Give it to a later
              verification.
            </Text>
            <Group gap="xs" wrap="nowrap">
              <Code style={{ overflowWrap: 'anywhere' }}>{head}</Code>
              <CopyText text={head} label="Copy the head" />
            </Group>
          </>
        )}
      </Stack>
    </Alert>
  );
}
