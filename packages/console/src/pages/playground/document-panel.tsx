/** Prints a record of the chosen model as Odoo does, and saves the PDF. */
import { DOCUMENT_PATH, type ErrorBody } from '@erp-proxy/contract';
import { Badge, Button, Group, NumberInput, Paper, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { readProxyUrl } from '../../api/root.ts';
import { sendRaw } from '../../api/send.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { OdooServer } from '../../parts/odoo-queries.ts';
import { type PrintedInstance, printDocumentCurl } from '../../parts/print-call.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { printSize } from './describe-answer.ts';
import { ErrorView } from './error-view.tsx';
import { saveFile } from './save-file.ts';

interface DocumentPanelProps {
  server: OdooServer;
  /** The server without its key, for the code. */
  shownInstance: PrintedInstance;
  model: string;
  /** Id of the key whose policy applies; empty: no policy. */
  keyId: string;
}

type Printed = { file: Blob; name: string; totalMs: number } | { error: ErrorBody };

export function DocumentPanel({ server, shownInstance, model, keyId }: DocumentPanelProps) {
  const [record, setRecord] = useState<number | string>('');
  const [report, setReport] = useState('');
  const parts = {
    model_id: model,
    record: Number(record),
    ...(report.trim() === '' ? {} : { report: report.trim() }),
  };
  const printing = useMutation({
    mutationFn: () => print({ ...parts, erp_instance: server.instance }, keyId),
  });
  const isComplete = Number.isInteger(parts.record) && parts.record > 0;
  return (
    <Paper withBorder p="md" component="section" aria-label="Document" aria-busy={printing.isPending}>
      <Stack gap="sm">
        <Text fw={500}>Document</Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <NumberInput
            label="Record"
            description="Its id"
            min={1}
            allowDecimal={false}
            value={record}
            onChange={setRecord}
          />
          <TextInput
            label="Report"
            description="Left empty: the usual one"
            placeholder="sale.action_report_saleorder"
            value={report}
            onChange={({ currentTarget }) => setReport(currentTarget.value)}
          />
        </SimpleGrid>
        <Group justify="flex-end">
          <Button
            variant="default"
            leftSection={<Icon name="download" size={16} />}
            loading={printing.isPending}
            disabled={!isComplete}
            onClick={() => printing.mutate()}
          >
            Print
          </Button>
        </Group>
        <ProblemAlert error={printing.error} onDismiss={printing.reset} />
        {printing.data && <PrintedView printed={printing.data} />}
        {isComplete && (
          <CodeBlock
            label="Document with curl"
            code={printDocumentCurl(readProxyUrl() + DOCUMENT_PATH, parts, shownInstance)}
          />
        )}
      </Stack>
    </Paper>
  );
}

function PrintedView({ printed }: { printed: Printed }) {
  if ('error' in printed) return <ErrorView error={printed.error} />;
  const { file, name, totalMs } = printed;
  return (
    <Group gap="sm" role="status">
      <Badge variant="light" color="teal" tt="none">
        OK
      </Badge>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
      <Text size="sm">{printSize(file.size)}</Text>
      <Text size="sm">{(totalMs / 1000).toFixed(1)} s</Text>
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<Icon name="download" size={14} />}
        onClick={() => saveFile(file, name)}
      >
        Save
      </Button>
    </Group>
  );
}

/** Throws a ProblemError if the proxy did not ask Odoo. */
async function print(document: object, keyId: string): Promise<Printed> {
  const startedMs = performance.now();
  const body = { document, ...(keyId === '' ? {} : { key_id: keyId }) };
  const response = await sendRaw({ method: 'POST', path: '/document', body });
  if (response.headers.get('content-type')?.startsWith('application/json')) return await response.json();
  const file = await response.blob();
  return {
    file,
    name: readFileName(response.headers.get('content-disposition') ?? ''),
    totalMs: performance.now() - startedMs,
  };
}

/** The name in `content-disposition`: of its two forms, the one that can have any character (RFC 6266). */
function readFileName(disposition: string): string {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  if (encoded !== undefined) return decodeURIComponent(encoded);
  return /filename="([^"]+)"/.exec(disposition)?.[1] ?? 'document.pdf';
}
