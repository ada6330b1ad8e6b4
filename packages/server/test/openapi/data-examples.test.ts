/** Runs the examples of the routes that move data, in the OpenAPI document and on their pages, against the sandbox. */
import { readFileSync } from 'node:fs';
import { EXPORT_EXAMPLE } from '@erp-proxy/http/openapi';
import { expect, test } from 'vitest';
import { readRecords, runExport, startSandboxStage } from '../export/export-stage.ts';

const page = readFileSync(new URL('../../../../docs/export.md', import.meta.url), 'utf8');

test('the example of the export gives the answer of the document', async () => {
  const { proxy } = await startSandboxStage();
  expect((await runExport(proxy, EXPORT_EXAMPLE.body)).text).toBe(EXPORT_EXAMPLE.answer);
});

test('the request of docs/export.md gives the answer that it shows', async () => {
  const { proxy } = await startSandboxStage();
  const body = /-d '([^']+)'/.exec(page)?.[1] ?? '';
  const answer = await runExport(proxy, body);
  expect(page).toContain(`\`\`\`json\n${answer.text}\`\`\``);
  expect(readRecords(answer)).toHaveLength(2);
});
