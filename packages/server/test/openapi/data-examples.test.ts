/** Runs the examples of the routes that move data, in the OpenAPI document and on their pages, against the sandbox. */
import { readFileSync } from 'node:fs';
import { EXPORT_EXAMPLE, FLEET_EXAMPLE } from '@erp-proxy/http/openapi';
import { expect, test } from 'vitest';
import { readRecords, runExport, startSandboxStage } from '../export/export-stage.ts';
import { openFleet, readReply } from '../fleet/fleet-stage.ts';

const page = readFileSync(new URL('../../../../docs/export.md', import.meta.url), 'utf8');

test('the example of the export gives the answer of the document', async () => {
  const { proxy } = await startSandboxStage();
  expect((await runExport(proxy, EXPORT_EXAMPLE.body)).text).toBe(EXPORT_EXAMPLE.answer);
});

test('the example of a call to many instances gives the answer of the document, and that of its page', async () => {
  const { proxy } = await startSandboxStage();
  const reply = await readReply(await openFleet(proxy, FLEET_EXAMPLE.body));
  expect(reply.text).toBe(FLEET_EXAMPLE.answer);
  const fleet = readFileSync(new URL('../../../../docs/fleet.md', import.meta.url), 'utf8');
  const body = JSON.parse(/-d '([^']+)'/.exec(fleet)?.[1] ?? '');
  expect(body).toEqual(FLEET_EXAMPLE.body);
  expect(fleet).toContain(reply.text);
});

test('the request of docs/export.md gives the answer that it shows', async () => {
  const { proxy } = await startSandboxStage();
  const body = /-d '([^']+)'/.exec(page)?.[1] ?? '';
  const answer = await runExport(proxy, body);
  expect(page).toContain(`\`\`\`json\n${answer.text}\`\`\``);
  expect(readRecords(answer)).toHaveLength(2);
});
