import { Skeleton, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export interface ListTableProps {
  /** The accessible name. */
  label: string;
  columns: readonly string[];
  isLoading: boolean;
  isEmpty: boolean;
  /** Shown if there are no rows: says why, and what to do. */
  empty: ReactNode;
  /** The rows of the table. */
  children: ReactNode;
}

/** A table for a list. On narrow screens it scrolls sideways. */
export function ListTable({ label, columns, isLoading, isEmpty, empty, children }: ListTableProps) {
  if (isLoading) {
    return (
      <Stack gap="xs" role="status" aria-label={`${label} are loading`}>
        {['first', 'second', 'third'].map((row) => (
          <Skeleton key={row} height={32} />
        ))}
      </Stack>
    );
  }
  if (isEmpty) {
    return (
      <Text c="dimmed" py="lg" ta="center" component="div">
        {empty}
      </Text>
    );
  }
  return (
    <Table.ScrollContainer minWidth={columns.length * 110}>
      <Table aria-label={label} highlightOnHover verticalSpacing="xs" fz="sm">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
