/** Buttons for the actions on a subscription. */
import {
  type NewSubscriptionView,
  type PingView,
  printVersionTag,
  type SubscriptionView,
  tagVersion,
} from '@erp-proxy/contract';
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { AdminRequest } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { ForRole } from '../../parts/for-role.tsx';
import { OverlapButton } from '../../parts/overlap-button.tsx';
import { printOptions, quoteIfNeeded } from '../../parts/print-options.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';

interface ActionProps {
  current: SubscriptionView;
  path: string;
}

const RESOURCES = ['/subscriptions'];

export function SubscriptionActions({ current, path }: ActionProps) {
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useAdminMutation<NewSubscriptionView>(RESOURCES, (view) => setSecret(view.secret));
  const remove = useAdminMutation(RESOURCES, () => void navigate({ to: '/subscriptions' }));
  const name = quoteIfNeeded(current.name);
  return (
    <>
      <ForRole needs="operator">
        <PingButton path={path} name={name} />
      </ForRole>
      {current.state === 'active' ? (
        <PauseButton path={path} name={name} />
      ) : (
        <ResumeButton path={path} name={name} />
      )}
      <OverlapButton
        label="Rotate secret"
        consequence="A new secret signs from now on, and is shown once. For the overlap the old one signs, too, so that the receiver can change over."
        describe={(overlap_seconds) => ({
          request: {
            method: 'POST',
            path: `${path}/rotate-secret`,
            body: { overlap_seconds },
            ifMatch: printVersionTag(tagVersion(current)),
          },
          command: `subscriptions rotate-secret ${name} --overlap ${overlap_seconds / 60}m`,
        })}
        mutation={rotate}
      />
      <DialogButton
        label="Remove"
        color="red"
        variant="light"
        confirmColor="red.9"
        mutation={remove}
        request={{ method: 'DELETE', path, ifMatch: printVersionTag(tagVersion(current)) }}
        command={`subscriptions remove ${name}`}
      >
        Nothing more of <strong>{current.name}</strong> is sent, and its deliveries are deleted. This cannot
        be undone.
      </DialogButton>
      <SecretOnce
        title={`The new secret of ${current.name}`}
        secret={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
}

interface NamedProps {
  path: string;
  /** Name of the subscription, for commands. */
  name: string;
}

function PingButton({ path, name }: NamedProps) {
  const [answer, setAnswer] = useState<PingView | null>(null);
  const ping = useAdminMutation<PingView>(RESOURCES, setAnswer);
  const request: AdminRequest = { method: 'POST', path: `${path}/ping` };
  const close = () => {
    setAnswer(null);
    ping.reset();
  };
  return (
    <>
      <Button variant="default" loading={ping.isPending} onClick={() => ping.run(request)}>
        Send ping
      </Button>
      <Modal opened={answer !== null || ping.error !== null} onClose={close} title="Ping">
        <Stack gap="sm">
          <ProblemAlert error={ping.error} />
          {answer !== null && <PingAnswer answer={answer} />}
          <Group justify="flex-end">
            <AsCode request={request} command={`subscriptions ping ${name}`} />
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function PingAnswer({ answer: { delivered, status, failure, duration_ms } }: { answer: PingView }) {
  return (
    <Alert
      color={delivered ? 'teal' : 'red'}
      title={delivered ? 'The receiver took it' : 'The receiver did not take it'}
    >
      <Stack gap={4}>
        {failure !== null && <Text size="sm">{failure}</Text>}
        <Text size="sm">
          {status === null ? 'There was no answer' : `It answered with status ${status}`}, after{' '}
          {duration_ms.toLocaleString('en')} ms.
        </Text>
        {!delivered && (
          <Text size="sm">
            It must answer with a status of 2xx within 15 seconds. Verify the signature with the secret that
            was shown when it was created.
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

function PauseButton({ path, name }: NamedProps) {
  const [reason, setReason] = useState('');
  const pause = useAdminMutation<SubscriptionView>(RESOURCES);
  const given = reason.trim() === '' ? {} : { reason };
  return (
    <DialogButton
      label="Pause"
      title="Pause the subscription"
      mutation={pause}
      request={{ method: 'POST', path: `${path}/pause`, body: given }}
      command={`subscriptions pause ${name}${printOptions(given)}`}
    >
      <Stack gap="md">
        <Text size="sm">
          Changes are not read, and nothing is sent. Nothing is missed: it continues where it stopped.
        </Text>
        <TextInput
          label="Reason"
          description="The list shows it to others"
          placeholder="The shop is being updated"
          maxLength={500}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          data-autofocus
        />
      </Stack>
    </DialogButton>
  );
}

function ResumeButton({ path, name }: NamedProps) {
  const resume = useAdminMutation<SubscriptionView>(RESOURCES);
  const request: AdminRequest = { method: 'POST', path: `${path}/resume` };
  return (
    <>
      <Button loading={resume.isPending} onClick={() => resume.run(request)}>
        Resume
      </Button>
      <AsCode request={request} command={`subscriptions resume ${name}`} />
      <Modal opened={resume.error !== null} onClose={resume.reset} title="It was not resumed">
        <ProblemAlert error={resume.error} />
      </Modal>
    </>
  );
}
