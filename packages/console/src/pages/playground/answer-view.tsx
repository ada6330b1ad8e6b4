/** Shows the answer to a call: its times, and its result or error. */
import { cutText } from '@erp-proxy/contract';
import { Alert, Badge, Button, Group, Progress, Stack, Table, Tabs, Text } from '@mantine/core';
import { useMemo } from 'react';
import { CopyText } from '../../parts/copy-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { JsonView } from '../../parts/json-editor/json-view.tsx';
import type { FieldTable } from '../../parts/odoo-fields.ts';
import { showJson } from '../../parts/show-json.ts';
import {
  type AnswerTable,
  printSize,
  ROWS_MAX,
  readStages,
  type Stage,
  tabulate,
} from './describe-answer.ts';
import { ErrorView } from './error-view.tsx';
import { parseExactly, sliceResult } from './exact-json.ts';
import type { Answer } from './run-call.ts';
import { saveFile } from './save-file.ts';

interface AnswerViewProps {
  answer: Answer;
  fields: FieldTable;
  /** Replaces the unknown name in the call by a name that exists. */
  onUseName: (name: string) => void;
}

export function AnswerView({ answer, fields, onUseName }: AnswerViewProps) {
  const { body, status, bytes, totalMs, timing, requestId, limit } = answer;
  const { stages, protocol } = readStages(timing, totalMs);
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Badge variant="light" color={'error' in body ? 'red' : 'teal'} tt="none">
          {'error' in body ? 'Error' : 'OK'} · {status}
        </Badge>
        <Text size="sm">{printSize(bytes)}</Text>
        <Text size="sm">{printMs(totalMs)}</Text>
        {protocol !== null && (
          <Text size="sm" c="dimmed">
            over {protocol}
          </Text>
        )}
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<Icon name="download" size={14} />}
          onClick={() => download(answer)}
        >
          Download
        </Button>
      </Group>
      <TimeBar stages={stages} />
      {limit !== null && (
        <Alert color="orange" p="xs">
          The policy of the key set the limit to {limit}. There may be more records.
        </Alert>
      )}
      {'error' in body ? (
        <ErrorView error={body.error} onUseName={onUseName} />
      ) : (
        <ResultView answer={answer} result={body.result} fields={fields} />
      )}
      {requestId !== null && (
        <Text size="xs" c="dimmed">
          Request <span className="data">{requestId}</span>
        </Text>
      )}
    </Stack>
  );
}

const COLORS: Record<Stage['name'], string> = {
  Queue: 'orange',
  Odoo: 'indigo',
  Proxy: 'teal',
  Transfer: 'gray',
};

function TimeBar({ stages }: { stages: Stage[] }) {
  const totalMs = stages.reduce((sum, { ms }) => sum + ms, 0);
  const text = stages.map(({ name, ms }) => `${name} ${printMs(ms)}`).join(', ');
  return (
    <Stack gap={4}>
      <Progress.Root size="sm" role="img" aria-label={`Time: ${text}`}>
        {stages.map(({ name, ms }) => (
          <Progress.Section
            key={name}
            value={(100 * ms) / (totalMs || 1)}
            color={COLORS[name]}
            withAria={false}
          />
        ))}
      </Progress.Root>
      <Group gap="md">
        {stages.map(({ name, ms }) => (
          <Group key={name} gap={6}>
            <svg width={8} height={8} aria-hidden="true">
              <circle cx={4} cy={4} r={4} fill={`var(--mantine-color-${COLORS[name]}-filled)`} />
            </svg>
            <Text size="xs" c="dimmed">
              {name} {printMs(ms)}
            </Text>
          </Group>
        ))}
      </Group>
    </Stack>
  );
}

function printMs(ms: number): string {
  return ms < 10_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Of a longer answer, only the first records are shown. */
const JSON_LENGTH_MAX = 1_000_000;

function ResultView({ answer, result, fields }: { answer: Answer; result: unknown; fields: FieldTable }) {
  const shown = useMemo(() => sliceResult(answer.text, ROWS_MAX), [answer]);
  const table = useMemo(
    () => (Array.isArray(result) ? tabulate(parseExactly(shown), result.length, fields) : null),
    [shown, result, fields],
  );
  const isLong = answer.text.length > JSON_LENGTH_MAX;
  if (Array.isArray(result) && result.length === 0) {
    return <Text c="dimmed">The result is an empty list: no record matches.</Text>;
  }
  const json = <JsonResult answer={answer} beginning={isLong ? shown : null} />;
  if (table === null) return json;
  return (
    <Tabs defaultValue="table" keepMounted={false}>
      <Tabs.List mb="xs">
        <Tabs.Tab value="table">Table</Tabs.Tab>
        <Tabs.Tab value="json">JSON</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="table">
        <ResultTable table={table} />
      </Tabs.Panel>
      <Tabs.Panel value="json">{json}</Tabs.Panel>
    </Tabs>
  );
}

/** `beginning`: the first records, if the answer is too long to show. */
function JsonResult({ answer, beginning }: { answer: Answer; beginning: string | null }) {
  const text = useMemo(
    () => showJson(cutText(beginning ?? answer.text, JSON_LENGTH_MAX)),
    [answer, beginning],
  );
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between">
        <Text size="xs" c="dimmed">
          {beginning !== null
            ? 'This is the beginning of the result. Download it to see all.'
            : 'The whole answer'}
        </Text>
        <CopyText text={answer.text} label="Copy the whole answer" />
      </Group>
      <JsonView label="Answer as JSON" text={text} />
    </Stack>
  );
}

/** Minimum width of a cell, enough for words. The first column is usually the id. */
const CELL_WIDTH_MIN = 'min(9rem, 60vw)';

function ResultTable({ table: { columns, rows, total } }: { table: AnswerTable }) {
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {total === 1 ? '1 record' : `${total} records`}
        {rows.length < total ? `, of which the first ${rows.length} are shown` : ''}
      </Text>
      <Table.ScrollContainer
        minWidth={0}
        maxHeight={560}
        scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      >
        <Table aria-label="Result" fz="xs" highlightOnHover stickyHeader verticalSpacing={4} withTableBorder>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column} className="data" style={{ whiteSpace: 'nowrap' }}>
                  {column}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((cells, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: an answer never changes
              <Table.Tr key={row}>
                {cells.map(({ text, hint }, column) => (
                  <Table.Td
                    key={columns[column]}
                    style={{
                      unicodeBidi: 'isolate',
                      overflowWrap: 'anywhere',
                      minWidth: column > 0 ? CELL_WIDTH_MIN : '3rem',
                    }}
                  >
                    {text}
                    {hint !== undefined && (
                      <Text span size="xs" c="dimmed">
                        {' '}
                        #{hint}
                      </Text>
                    )}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

function download({ text, call }: Answer): void {
  saveFile(new Blob([text], { type: 'application/json' }), `${call.model_id}.${call.action}.json`);
}
