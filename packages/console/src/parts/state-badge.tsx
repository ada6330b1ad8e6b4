import { Badge } from '@mantine/core';

/** Colours of the states of all objects that have one, from keys to breakers. */
const COLORS: Record<string, string> = {
  active: 'teal',
  approved: 'teal',
  closed: 'teal',
  connected: 'teal',
  delivered: 'teal',
  done: 'teal',
  used: 'teal',
  ok: 'teal',
  reachable: 'teal',
  degraded: 'orange',
  expiring: 'orange',
  half_open: 'orange',
  moved: 'orange',
  'cannot read': 'red',
  'no policy': 'orange',
  paused: 'orange',
  pending: 'orange',
  waiting: 'orange',
  denied: 'red',
  disabled: 'red',
  expired: 'red',
  failed: 'red',
  open: 'red',
  refused: 'red',
  unknown: 'red',
  unreachable: 'red',
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
