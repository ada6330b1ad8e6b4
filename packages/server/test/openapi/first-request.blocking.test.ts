/** Tests that the OpenAPI document is rendered for its first caller without blocking the calls of others. */
import { expect, test } from 'vitest';
import { send } from '../harness.ts';
import { startStage } from '../large-bodies/stage.ts';
import { BLOCKED_MS_MAX, takeMedian } from '../measure-blocking.ts';

test('the first request for the document keeps no other caller waiting', async () => {
  const blockedMs = await takeMedian(async () => {
    const stage = await startStage();
    // The first request of a process also compiles code that all routes use.
    await send(`${stage.url}/healthz`);
    await stage.readLongestGap();
    const { body } = await send(`${stage.url}/openapi.json`);
    expect(Object.keys(JSON.parse(body.toString()).paths)).toContain('/api/erp/execute');
    return await stage.readLongestGap();
  });
  expect(blockedMs).toBeLessThan(BLOCKED_MS_MAX);
});
