import type { Page } from '@erp-proxy/contract';
import { Button, Group } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ListTable, type ListTableProps } from './list-table.tsx';
import { ProblemAlert } from './problem-alert.tsx';

interface PagedListProps<Item> extends Pick<ListTableProps, 'label' | 'columns' | 'empty'> {
  list: Pick<UseQueryResult<Page<Item>>, 'data' | 'error' | 'isFetching'>;
  /** The cursor of the shown page; undefined on the first page. */
  cursor: string | undefined;
  onTurn: (cursor: string | undefined) => void;
  renderRow: (item: Item) => ReactNode;
}

/** One page of a list, with buttons to turn pages. */
export function PagedList<Item>({
  list: { data, error, isFetching },
  cursor,
  onTurn,
  renderRow,
  ...table
}: PagedListProps<Item>) {
  return (
    <>
      <ProblemAlert error={error} />
      <ListTable {...table} isLoading={isFetching && data === undefined} isEmpty={data?.items.length === 0}>
        {data?.items.map(renderRow)}
      </ListTable>
      <PageControls cursor={cursor} next={data?.next ?? null} onTurn={onTurn} />
    </>
  );
}

interface PageControlsProps {
  cursor: string | undefined;
  /** The cursor of the next page; null if there is none. */
  next: string | null;
  onTurn: (cursor: string | undefined) => void;
}

/** Buttons to page through a list. Cursors lead forward only; the browser's Back returns to the previous page. */
function PageControls({ cursor, next, onTurn }: PageControlsProps) {
  if (cursor === undefined && next === null) return null;
  return (
    <Group mt="sm" gap="xs">
      <Button variant="default" size="xs" disabled={cursor === undefined} onClick={() => onTurn(undefined)}>
        First page
      </Button>
      <Button variant="default" size="xs" disabled={next === null} onClick={() => onTurn(next ?? undefined)}>
        Next page
      </Button>
    </Group>
  );
}
