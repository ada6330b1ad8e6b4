/**
 * Tests everyday buttons with the recorded traffic of real servers. A client that follows the hints in the answers
 * makes the recorded calls, which cancelled, delivered, invoiced, paid, won and lost the records.
 */
import { readFileSync } from 'node:fs';
import type { Policy } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { startWithScript } from './scripted-odoo.ts';

interface Step {
  model: string;
  method: string;
  args: unknown[];
  keyword: Record<string, unknown>;
  result: unknown;
}

interface Recorded {
  /** The first calls of tools in the task; the answers lead to further calls. */
  calls: [string, Record<string, unknown>][];
  steps: Step[];
}

const RECORDED: Record<string, Record<string, Recorded>> = JSON.parse(
  readFileSync(new URL('../data/dialogs.json', import.meta.url), 'utf8'),
);
const CASES = Object.entries(RECORDED).flatMap(([version, tasks]) =>
  Object.entries(tasks).map(([task, recorded]) => [version, task, recorded] as const),
);
const CALLS_MAX = 3;
const FIELDS = { display_name: { type: 'char' }, advance_payment_method: { type: 'selection' } };
const POLICY: Policy = { instances: ['prod'], models: { '*': ['*'] }, unattended: { '*': ['*'] } };

/** Starts tools with an Odoo that answers as recorded, and keeps the calls that it got. */
async function startTools(steps: readonly Step[]) {
  const sent: Omit<Step, 'result'>[] = [];
  const left = [...steps];
  // The proxy also makes calls that were not recorded, such as questions for types.
  const isRecorded = (model: unknown, method: unknown) =>
    steps.some((step) => step.model === model && step.method === method);
  const answerOther = (method: string) =>
    method === 'fields_get' ? FIELDS : method === 'context_get' ? {} : [];
  const post = await startWithScript((socket, { body }) => {
    const { args: [, , , model, method, args, keyword = {}] = [] } = JSON.parse(body.toString()).params ?? {};
    const isTask = isRecorded(model, method);
    if (isTask) sent.push({ model, method, args, keyword });
    const answer = isTask ? (left.shift()?.result ?? null) : answerOther(method);
    answerLikeOdoo(socket, printResult(JSON.stringify(answer)));
  }, POLICY);
  const call = async (name: string, given: object) => {
    const params = { name, arguments: given };
    const text = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    const { isError, content, structuredContent } = JSON.parse(
      /^data: (.*)$/m.exec(text)?.[1] ?? text,
    ).result;
    expect(isError, content[0].text).toBeUndefined();
    return structuredContent;
  };
  return { sent, call };
}

/** The further calls of tools that the hint of an answer asks for. */
function readHint(hint: string, context: unknown, first: Record<string, unknown>) {
  const again = /The same call of [\w.]+ again, with keyword (\{.*?\}\}),/.exec(hint);
  if (again !== null) return [['call_method', { ...first, keyword: JSON.parse(again[1]!) }]] as const;
  const exists = /call_method \{"model": "([\w.]+)", "method": …, "ids": \[(\d+)\].*its buttons: (\w+)/.exec(
    hint,
  );
  const keyword = { context };
  if (exists !== null) {
    const [, model, id, method] = exists;
    return [['call_method', { model, method, ids: [Number(id)], keyword }]] as const;
  }
  const [, model, method] = /create_record \{"model": "([\w.]+)".*its button (\w+)/.exec(hint) ?? [];
  return [
    ['create_record', { model, values: {}, context }],
    ['call_method', { model, method, keyword }],
  ] as const;
}

test.each(CASES)('Odoo %s: %s takes at most three calls', async (_, _task, { calls, steps }) => {
  const { sent, call } = await startTools(steps);
  const first = calls[0]![1];
  const planned: (readonly [string, Record<string, unknown>])[] = [...calls];
  let made: unknown;
  let count = 0;
  for (let next = planned.shift(); next !== undefined; next = planned.shift()) {
    const [tool, args] = next;
    count++;
    const isOfNew = tool === 'call_method' && args['ids'] === undefined;
    const { id, hint = '', result } = await call(tool, isOfNew ? { ...args, ids: [made] } : args);
    made = id ?? made;
    if (hint.startsWith('Odoo opened a dialog')) planned.push(...readHint(hint, result.context, first));
  }
  expect(count).toBeLessThanOrEqual(CALLS_MAX);
  expect(sent).toEqual(steps.map(({ result: _result, ...step }) => step));
});
