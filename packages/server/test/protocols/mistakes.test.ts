/** Tests that one mistake has one type on every version from 14, over every protocol. */
import type { Version } from '@erp-proxy/sandbox';
import { describe, expect, test } from 'vitest';
import { MISTAKES } from '../mistakes.ts';
import { describeKind, openProxy, openSandbox, printOperation } from './stage.ts';

const STAGES: readonly [Version, Parameters<typeof openProxy>[1]][] = [
  [14, 'auto'],
  [15, 'auto'],
  [16, 'auto'],
  [17, 'auto'],
  [18, 'auto'],
  [19, 'auto'],
  [19, 'jsonrpc'],
  [19, 'json2'],
];

describe.each(STAGES)('Odoo %i, %s', async (version, protocol) => {
  const sandbox = await openSandbox({ version });
  const proxy = await openProxy([sandbox], protocol);

  test.each(MISTAKES)('$mistake: $type', async ({ mistake, call, type }) => {
    sandbox.reset();
    const answer = await proxy.post(printOperation(sandbox, { name: mistake, ...call }));
    expect(describeKind(answer)).toBe(type);
    if (mistake.startsWith('an unwrapped condition'))
      expect(JSON.parse(answer.body.toString()).error.message).toMatch(/one more pair of brackets/);
    if (/(text|number) for the fields/.test(mistake))
      expect(JSON.parse(answer.body.toString()).error.message).toMatch(/^`fields` must be a list/);
  });
});
