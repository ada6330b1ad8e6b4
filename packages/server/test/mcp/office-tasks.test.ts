/**
 * Tasks of an office, solved by the tools alone (test/data/office-tasks.json): how many calls they take, how many fail,
 * and how long the answers are. The decision page has the figures, which must be those of this run.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { AGREE, type Stage, startStage } from './stage.ts';

interface Step {
  tool: string;
  arguments: Record<string, unknown>;
  /** A text that the answer must have. */
  expect: string;
}

interface Tasks {
  /** Records that the tasks need beside those of the sandbox: model and values. */
  setup: [string, object][];
  tasks: { task: string; calls: Step[] }[];
}

interface Solved {
  task: string;
  tools: string[];
  /** Bytes of each answer. */
  bytes: number[];
  failed: string[];
}

const { setup, tasks }: Tasks = JSON.parse(
  readFileSync(new URL('../data/office-tasks.json', import.meta.url), 'utf8'),
);
const NOW = Date.parse('2026-11-23T09:00:00Z');
const DECISIONS = fileURLToPath(new URL('../../../../docs/decisions', import.meta.url));
/** Stands for the address of the sandbox, whose length varies. */
const ADDRESS = 'https://erp.example.com';

async function solveAll(version: 14 | 18 | 19, protocol: string): Promise<Solved[]> {
  const solved: Solved[] = [];
  const stage = await startStage({ version, clock: () => NOW, settings: { 'upstream.protocol': protocol } });
  const client = await stage.connect({ answer: () => AGREE });
  for (const { task, calls } of tasks) {
    // Each task begins with the same records.
    stage.sandbox.reset();
    await addRecords(stage);
    solved.push({ task, ...(await solve(calls, stage, client)) });
  }
  return solved;
}

async function addRecords({ proxy }: Stage): Promise<void> {
  const calls = setup.map(([model, values]) => ({
    action: 'create',
    model_id: model,
    params: [values],
    erp_instance: { name: 'prod' },
  }));
  const { json } = await proxy.call(calls);
  for (const answer of json) expect(answer.error).toBeUndefined();
}

async function solve(calls: Step[], { call, sandbox }: Stage, client: Client): Promise<Omit<Solved, 'task'>> {
  const answers: unknown[] = [];
  const bytes: number[] = [];
  const failed: string[] = [];
  for (const step of calls) {
    const args = fill(step.arguments, answers) as object;
    const { text, data, isError } = await call(step.tool, args, client);
    bytes.push(Buffer.byteLength(text.replaceAll(sandbox.url, ADDRESS)));
    if (isError || !text.includes(step.expect)) failed.push(`${step.tool} ${JSON.stringify(args)}: ${text}`);
    answers.push(data);
  }
  return { tools: calls.map(({ tool }) => tool), bytes, failed };
}

/** Replaces `$0.records.0.id` by that value of the answer to the first call. */
function fill(value: unknown, answers: readonly unknown[]): unknown {
  if (typeof value === 'string' && /^\$\d+\./.test(value)) {
    const [index = '', ...path] = value.slice(1).split('.');
    // biome-ignore lint/suspicious/noExplicitAny: the path leads through JSON
    return path.reduce<any>((found, name) => found?.[name], answers[Number(index)]);
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, answers));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, answers)]));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

test.each([
  [14, 'jsonrpc'],
  [18, 'jsonrpc'],
  [19, 'json2'],
] as const)(
  'nine of ten tasks need no failed call, and half of the answers have less than 2 kB: Odoo %i',
  async (version, protocol) => {
    const solved = await solveAll(version, protocol);
    expect(solved).toHaveLength(40);
    const failed = solved.flatMap((task) => task.failed);
    expect(
      solved.filter((task) => task.failed.length === 0).length,
      failed.join('\n'),
    ).toBeGreaterThanOrEqual(36);
    expect(median(solved.flatMap(({ bytes }) => bytes))).toBeLessThan(2000);
  },
  60_000,
);

test('the page has the list of tasks with its figures', async () => {
  const solved = await solveAll(18, 'jsonrpc');
  const rows = solved.map(
    ({ task, tools, bytes }) => `| ${task} | ${tools.join(', ')} | ${bytes.join(', ')} |`,
  );
  const all = solved.flatMap(({ bytes }) => bytes);
  const page = readFileSync(join(DECISIONS, globSync('*-office-tasks.md', { cwd: DECISIONS })[0]!), 'utf8');
  expect(page, rows.join('\n')).toContain(`${rows.join('\n')}\n`);
  const failed = solved.filter((task) => task.failed.length > 0).length;
  const { tools } = await (await (await startStage()).connect()).listTools();
  const list = `The list of tools has ${(JSON.stringify(tools).length / 1000).toFixed(1)} kB.`;
  const calls = `${all.length} calls, ${failed} of 40 tasks with a failed call`;
  const figures = `${calls}, median ${median(all)} bytes, largest ${Math.max(...all)} bytes. ${list}`;
  expect(page.replace(/\s+/g, ' '), figures).toContain(figures);
});
