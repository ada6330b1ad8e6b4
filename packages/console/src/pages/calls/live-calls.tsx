/** The newest records as they are written. The rows do not move while a person reads or selects them. */
import type { AuditView } from '@erp-proxy/contract';
import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import type { AuditSearch } from './audit-filters.ts';
import { CallsTable } from './calls-table.tsx';
import { countNewer, ROWS_MAX } from './follow-audit.ts';
import { readNewestAudit } from './read-audit.ts';

interface LiveCallsProps {
  search: AuditSearch;
  selected: number | undefined;
  onSelect: (seq: number) => void;
}

interface Shown {
  rows: readonly AuditView[];
  /** The number of rows that were not shown before: they are marked as new. */
  freshCount: number;
}

const NONE: readonly AuditView[] = [];

export function LiveCalls({ search, selected, onSelect }: LiveCallsProps) {
  const table = useRef<HTMLDivElement>(null);
  const isHeld = useHeld(table) || selected !== undefined;
  const { data, error } = useQuery(readNewestAudit(search));
  const newest = data?.rows ?? NONE;
  const [shown, setShown] = useState<Shown>({ rows: NONE, freshCount: 0 });
  const waiting = countNewer(newest, shown.rows[0]?.seq);
  const show = () => setShown({ rows: newest, freshCount: shown.rows.length === 0 ? 0 : waiting });
  if (!isHeld && newest !== shown.rows) show();

  return (
    <>
      <ProblemAlert error={error} />
      <Group gap="sm" mt="xs" mih={30}>
        <Text size="xs" c="dimmed" role="status">
          {isHeld
            ? 'Held while the pointer, the focus or a selection is in the list.'
            : 'Following the newest records.'}
          {shown.rows.length >= ROWS_MAX && ` The last ${ROWS_MAX} are kept.`}
        </Text>
        {waiting > 0 && (
          <Button size="compact-xs" variant="light" onClick={show}>
            Show {waiting >= ROWS_MAX ? `${ROWS_MAX} or more` : waiting} new
          </Button>
        )}
      </Group>
      <div ref={table}>
        <CallsTable
          rows={shown.rows}
          isLoading={data === undefined && error === null}
          empty="Nothing matches yet. New records appear here."
          freshCount={shown.freshCount}
          selected={selected}
          onSelect={onSelect}
        />
      </div>
    </>
  );
}

/** Tells whether a person is reading or selecting the content of an element, so that it must not move. */
function useHeld(element: RefObject<HTMLElement | null>): boolean {
  const [isOver, setOver] = useState(false);
  const [isSelected, setSelected] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  useEffect(() => {
    const held = element.current;
    if (held === null) return;
    const ended = new AbortController();
    const { signal } = ended;
    held.addEventListener('pointerenter', () => setOver(true), { signal });
    held.addEventListener('pointerleave', () => setOver(false), { signal });
    // Only if the keyboard moved the focus: a click leaves a focus behind, too.
    held.addEventListener('focusin', () => setFocus(held.querySelector(':focus-visible') !== null), {
      signal,
    });
    held.addEventListener('focusout', () => setFocus(false), { signal });
    const readSelection = () => {
      const selection = getSelection();
      setSelected(selection !== null && !selection.isCollapsed && held.contains(selection.anchorNode));
    };
    document.addEventListener('selectionchange', readSelection, { signal });
    return () => ended.abort();
  }, [element]);
  return isOver || isSelected || hasFocus;
}
