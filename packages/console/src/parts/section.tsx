import { Box, Group, Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface SectionProps {
  title: string;
  purpose?: ReactNode;
  /** Buttons in the heading of the section. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of a page with a heading. */
export function Section({ title, purpose, actions, children }: SectionProps) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Group justify="space-between" align="flex-start" mb="sm" gap="xs">
        <Box style={{ flex: '1 1 220px' }}>
          <Title order={2} size="h5">
            {title}
          </Title>
          {purpose !== undefined && (
            <Text size="xs" c="dimmed" component="div">
              {purpose}
            </Text>
          )}
        </Box>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Paper>
  );
}
