/** Asks before a call that may change data, and shows what would be sent. */
import type { InstanceView } from '@erp-proxy/contract';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { readAdmin } from '../../api/queries.ts';
import { JsonView } from '../../parts/json-editor/json-view.tsx';
import { printJson } from '../../parts/print-json.ts';
import type { Method } from './call-form.ts';
import { describeBody, type SentCall } from './run-call.ts';

interface ConfirmSendProps {
  /** The call to confirm; null: the dialog is closed. */
  sent: SentCall | null;
  kind: Method['kind'];
  onSend: (sent: SentCall) => void;
  onClose: () => void;
}

const WARNINGS: Record<Method['kind'], string> = {
  read: 'This call only reads.',
  write: 'This call changes records.',
  delete: 'This call deletes records. That cannot be undone.',
  unknown: 'The proxy does not know this method: it may change or delete records.',
};

export function ConfirmSend({ sent, kind, onSend, onClose }: ConfirmSendProps) {
  return (
    <Modal opened={sent !== null} onClose={onClose} title="Send this call?" size="lg">
      {sent !== null && (
        <Stack gap="md">
          <Alert color={kind === 'delete' ? 'red' : 'orange'} p="xs">
            {WARNINGS[kind]}
          </Alert>
          <Target sent={sent} />
          <JsonView label="The call" text={printJson(hideSecret(describeBody(sent)))} maxHeight={320} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} data-autofocus>
              Cancel
            </Button>
            <Button color={kind === 'delete' ? 'red' : 'indigo'} onClick={() => onSend(sent)}>
              Send the call
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function hideSecret({ call, ...others }: ReturnType<typeof describeBody>) {
  const instance = call.erp_instance;
  const shown = 'name' in instance ? instance : { ...instance, api_key: '…' };
  return { call: { ...call, erp_instance: shown }, ...others };
}

function Target({ sent: { server, keyId } }: { sent: SentCall }) {
  const { instance } = server;
  const name = 'name' in instance ? instance.name : '';
  const { data } = useQuery({
    ...readAdmin<InstanceView>(`/instances/${encodeURIComponent(name)}`),
    enabled: name !== '',
  });
  const address = 'name' in instance ? data : instance;
  return (
    <Text size="sm">
      {name !== '' && (
        <>
          Instance <b>{name}</b>:{' '}
        </>
      )}
      database <span className="data">{address?.db ?? '…'}</span> on{' '}
      <span className="data">{address?.url ?? '…'}</span>, as user{' '}
      <span className="data">{address?.user_id ?? '…'}</span> of Odoo,{' '}
      {keyId === '' ? (
        'without a policy'
      ) : (
        <>
          under the policy of the key <span className="data">{keyId}</span>
        </>
      )}
      .
    </Text>
  );
}
