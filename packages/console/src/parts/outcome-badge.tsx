import { Badge } from '@mantine/core';
import { colorOutcome } from './outcome-colors.ts';

/** Shows the outcome of a call: `ok`, or the type of its error. */
export function OutcomeBadge({ outcome }: { outcome: string }) {
  const [color = 'gray'] = colorOutcome(outcome).split('.');
  return (
    <Badge variant="dot" color={color} tt="none" fw={500} style={{ flexShrink: 0, minWidth: 'max-content' }}>
      {outcome}
    </Badge>
  );
}
