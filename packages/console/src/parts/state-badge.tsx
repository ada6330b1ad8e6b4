import { Badge } from '@mantine/core';

/** Colours of the states of keys, instances, subscriptions, deliveries, approvals and breakers. */
const COLORS: Record<string, string> = {
  active: 'teal',
  approved: 'teal',
  closed: 'teal',
  delivered: 'teal',
  used: 'teal',
  ok: 'teal',
  degraded: 'orange',
  expiring: 'orange',
  half_open: 'orange',
  'cannot read': 'red',
  'no policy': 'orange',
  paused: 'orange',
  pending: 'orange',
  waiting: 'orange',
  disabled: 'red',
  expired: 'red',
  failed: 'red',
  open: 'red',
  refused: 'red',
  revoked: 'red',
};

export function StateBadge({ state }: { state: string }) {
  return (
    <Badge
      variant="dot"
      color={COLORS[state] ?? 'gray'}
      tt="none"
      fw={500}
      style={{ flexShrink: 0, minWidth: 'max-content' }}
    >
      {state.replaceAll('_', ' ')}
    </Badge>
  );
}
