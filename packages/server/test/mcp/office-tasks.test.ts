/**
 * Tests tasks of an office, solved by the tools alone (test/data/office-tasks.json): how many calls they take, how many
 * fail, and how long the answers are.
 */
import { readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { AGREE, type Stage, startStage } from './stage.ts';

interface Step {
  tool: string;
  arguments: Record<string, unknown>;
  /** A text that the answer must contain. */
  expect: string;
}

interface Tasks {
  /** Records that the tasks need in addition to those of the sandbox: model and values. */
  setup: [string, object][];
  tasks: { task: string; calls: Step[] }[];
}

interface Solved {
  /** Length of each answer, in bytes. */
  bytes: number[];
  failed: string[];
}

const { setup, tasks }: Tasks = JSON.parse(
  readFileSync(new URL('../data/office-tasks.json', import.meta.url), 'utf8'),
);
const NOW = Date.parse('2026-11-23T09:00:00Z');
/** Stands for the address of the sandbox, whose length varies. */
const ADDRESS = 'https://erp.example.com';

async function solveAll(version: 14 | 18 | 19, protocol: string): Promise<Solved[]> {
  const solved: Solved[] = [];
  const stage = await startStage({ version, clock: () => NOW, settings: { 'upstream.protocol': protocol } });
  const client = await stage.connect({ answer: () => AGREE });
  for (const { calls } of tasks) {
    // Each task begins with the same records.
    stage.sandbox.reset();
    await addRecords(stage);
    solved.push(await solve(calls, stage, client));
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

async function solve(calls: Step[], { call, sandbox }: Stage, client: Client): Promise<Solved> {
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
  return { bytes, failed };
}

/** Replaces `$0.records.0.id` by that value in the answer to the first call. */
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
);

test('on Odoo 18 no task fails, and the answers and the list of tools stay short', async () => {
  const solved = await solveAll(18, 'jsonrpc');
  expect(solved.flatMap(({ failed }) => failed)).toEqual([]);
  const bytes = solved.flatMap((task) => task.bytes);
  expect(bytes.length).toBeLessThanOrEqual(62);
  expect(median(bytes)).toBeLessThanOrEqual(353);
  expect(Math.max(...bytes)).toBeLessThanOrEqual(1425);
  const { tools } = await (await (await startStage()).connect()).listTools();
  expect(JSON.stringify(tools).length).toBeLessThan(23_500);
});
