import type { InstanceKeyView } from '@erp-proxy/contract';
import { Group, Text } from '@mantine/core';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';

/** Shows whether the Odoo key of an instance still works, and for how long. */
export function OdooKeyState({ odooKey }: { odooKey: InstanceKeyView }) {
  const { state, expires_at, rotate, failure } = odooKey;
  return (
    <Group gap={6}>
      {failure === null ? (
        <StateBadge state={state === 'unknown' ? 'end unknown' : state} />
      ) : (
        <StateBadge state="failed" />
      )}
      {expires_at !== null && (
        <Text size="sm" component="span">
          ends <Time at={expires_at} />
        </Text>
      )}
      {rotate && (
        <Text size="xs" c="dimmed" component="span">
          replaced by the proxy
        </Text>
      )}
    </Group>
  );
}
