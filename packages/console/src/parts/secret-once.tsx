import { Alert, Button, Checkbox, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { CopyText } from './copy-text.tsx';

interface SecretOnceProps {
  title: string;
  /** The secret; null: the dialog is closed. */
  secret: string | null;
  onClose: () => void;
}

/** Shows a secret that cannot be read again. Closes only after the person has confirmed that it was stored. */
export function SecretOnce({ title, secret, onClose }: SecretOnceProps) {
  const [isStored, setStored] = useState(false);
  const close = () => {
    setStored(false);
    onClose();
  };
  return (
    <Modal opened={secret !== null} onClose={() => undefined} withCloseButton={false} title={title} size="lg">
      <Stack gap="md">
        <Alert color="orange">
          Copy it now: it is shown only once, and the proxy stores it in a form that cannot be read.
        </Alert>
        <Group gap="xs" wrap="nowrap">
          <Code fz="sm" style={{ overflowWrap: 'anywhere', flexGrow: 1 }}>
            {secret}
          </Code>
          <CopyText text={secret ?? ''} label="Copy the secret" />
        </Group>
        <Checkbox
          label="I have stored it"
          checked={isStored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <Group justify="flex-end">
          <Button disabled={!isStored} onClick={close}>
            Close
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          If it is lost, create a new one and revoke this one.
        </Text>
      </Stack>
    </Modal>
  );
}
