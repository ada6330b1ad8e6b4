import type { Role } from '@erp-proxy/contract';
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { mayAs } from '../api/session.ts';

interface ForRoleProps {
  needs: Role;
  /** What the content is for, shown to others, as in "Changing this". Left out: others see nothing. */
  purpose?: string;
  children: ReactNode;
}

/** Shows its content to those whose role allows what it does. The proxy checks each request in any case. */
export function ForRole({ needs, purpose, children }: ForRoleProps) {
  if (mayAs(needs)) return children;
  if (purpose === undefined) return null;
  return (
    <Text size="sm" c="dimmed">
      {purpose} needs the role {needs}.
    </Text>
  );
}
