import { Box, Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';

interface PageHeaderProps {
  title: string;
  /** One sentence that says what the page is for. */
  purpose?: ReactNode;
  /** Buttons of the page. */
  children?: ReactNode;
}

export function PageHeader({ title, purpose, children }: PageHeaderProps) {
  useDocumentTitle(`${title} · erp-proxy`);
  return (
    <Group justify="space-between" align="flex-end" mb="md" gap="sm">
      <Box>
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {purpose !== undefined && (
          <Text c="dimmed" size="sm" mt={2}>
            {purpose}
          </Text>
        )}
      </Box>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}
