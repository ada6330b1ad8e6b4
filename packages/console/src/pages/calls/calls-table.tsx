/** The result rows of an audit search. */

import type { AuditCallView, AuditView } from '@erp-proxy/contract';
import { clipText, cutText } from '@erp-proxy/contract';
import { Anchor, Badge, Table, Text } from '@mantine/core';
import { type MouseEvent, memo, type ReactNode } from 'react';
import { type KeyNames, useKeyNames } from '../../parts/key-names.ts';
import { ListTable } from '../../parts/list-table.tsx';
import { OutcomeBadge } from '../../parts/outcome-badge.tsx';
import { printExactMoment } from '../../parts/print-moment.ts';
import classes from './calls-table.module.css';
import { nameCall, nameTarget, printMs } from './print-call.ts';

interface CallsTableProps {
  rows: readonly AuditView[];
  isLoading: boolean;
  empty: ReactNode;
  /** The number of rows, from the first on, that have just arrived. */
  freshCount: number;
  selected: number | undefined;
  onSelect: (seq: number) => void;
}

const COLUMNS = ['Time', 'By', 'Target', 'Call', 'Outcome', 'Took'];

export function CallsTable({ rows, isLoading, empty, freshCount, selected, onSelect }: CallsTableProps) {
  const names = useKeyNames(rows.map((record) => (record.kind === 'call' ? record.key_id : null)));
  return (
    <ListTable
      label="Records"
      columns={COLUMNS}
      isLoading={isLoading}
      isEmpty={rows.length === 0}
      empty={empty}
    >
      {rows.map((record, index) => (
        <Row
          key={record.seq}
          record={record}
          keyName={findKeyName(record, names)}
          isFresh={index < freshCount}
          isSelected={record.seq === selected}
          onSelect={onSelect}
        />
      ))}
    </ListTable>
  );
}

function findKeyName(record: AuditView, names: KeyNames): string | undefined {
  return record.kind === 'call' && record.key_id !== null ? names[record.key_id] : undefined;
}

interface RowProps {
  record: AuditView;
  /** Undefined while the name is unknown. */
  keyName: string | undefined;
  isFresh: boolean;
  isSelected: boolean;
  onSelect: (seq: number) => void;
}

/** Memoized, because a record does not change: rendered again only when the name of its key arrives. */
const Row = memo(function Row({ record, keyName, isFresh, isSelected, onSelect }: RowProps) {
  const { seq, time } = record;
  const open = (event: MouseEvent) => {
    const isForBrowser = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (isForBrowser || getSelection()?.isCollapsed === false) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(seq);
  };
  const className = [classes['row'], isFresh && classes['fresh'], isSelected && classes['selected']];
  return (
    <Table.Tr className={className.filter(Boolean).join(' ')} onClick={open}>
      <Table.Td className="data" style={{ whiteSpace: 'nowrap' }}>
        <Anchor href={`/calls/${seq}`} onClick={open}>
          {printExactMoment(time)}
        </Anchor>
      </Table.Td>
      <Cells record={record} keyName={keyName} />
    </Table.Tr>
  );
});

function Cells({ record, keyName }: Pick<RowProps, 'record' | 'keyName'>) {
  switch (record.kind) {
    case 'call':
      return (
        <>
          <TextCell
            text={record.actor?.name ?? keyName ?? record.key_id ?? '–'}
            title={describeKey(record, keyName)}
          >
            {record.via !== null && (
              <Text span c="dimmed" inherit>
                {' '}
                by {record.via}
              </Text>
            )}
          </TextCell>
          <TextCell text={nameTarget(record)} />
          <TextCell text={nameCall(record)} />
          <Table.Td>
            <OutcomeBadge outcome={record.outcome} />
          </Table.Td>
          <Table.Td className="data" style={{ whiteSpace: 'nowrap' }}>
            {printMs(record.total_ms)}
          </Table.Td>
        </>
      );
    case 'admin':
      return (
        <>
          <TextCell text={record.actor.name} />
          <TextCell text={record.target} />
          <TextCell text={record.action} />
          <Table.Td>
            <Badge variant="default" tt="none">
              administration
            </Badge>
          </Table.Td>
          <Table.Td />
        </>
      );
    default:
      return (
        <Table.Td colSpan={COLUMNS.length - 1}>
          <Text size="sm" c="red">
            {record.problem}
          </Text>
        </Table.Td>
      );
  }
}

/** The key in full, for the title of a cell that shows another text. */
function describeKey({ key_id: keyId }: AuditCallView, name: string | undefined): string | undefined {
  if (keyId === null) return undefined;
  return name === undefined ? `Key ${keyId}` : `${cutText(name, TITLE_LENGTH_MAX)} (key ${keyId})`;
}

interface TextCellProps {
  text: string;
  title?: string | undefined;
  children?: ReactNode;
}

/** Keeps a short name on one line, for which the table scrolls. A long one breaks anywhere. */
function TextCell({ text, title, children }: TextCellProps) {
  const isShort = text.length <= SHORT_LENGTH_MAX;
  return (
    <Table.Td
      className="data"
      {...(title === undefined ? {} : { title })}
      {...(isShort ? { style: { whiteSpace: 'nowrap' } } : {})}
    >
      {clipText(text, TEXT_LENGTH_MAX)}
      {children}
    </Table.Td>
  );
}

const SHORT_LENGTH_MAX = 40;
/** Longer texts are cut: the record beside the list has the whole text. */
const TEXT_LENGTH_MAX = 120;
const TITLE_LENGTH_MAX = 500;
