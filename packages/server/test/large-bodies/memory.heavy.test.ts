import { expect, test } from 'vitest';
import { makeCall } from '../scripted-upstream.ts';
import { makeLargeBodies } from './bodies.ts';
import { startStage } from './stage.ts';

test('bodies beyond the memory for bodies wait, and all of them are answered', async () => {
  const stage = await startStage(['--http.bodiesBytesMax=67108864']);
  const key = await stage.makeKey();
  const [records] = makeLargeBodies(stage.odoo, 16 * 1024 ** 2);
  const before = stage.readPeakMib();
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => stage.post({ key, body: records?.bytes as Buffer })),
  );
  // On a busy machine, 10 s are not enough for all bodies, so some are refused.
  const statuses = new Set(answers.map(({ status }) => status));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(4);
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  for (const { status, body } of answers) {
    if (status === 503) expect(JSON.parse(body.toString()).error.data.outcome).toBe('not_sent');
  }
  // Without the bound, 32 bodies of 16 MiB and the data made of each would be in memory.
  expect(stage.readPeakMib() - before).toBeLessThan(500);
  const small = await stage.post({ key, body: Buffer.from(JSON.stringify(makeCall(stage.odoo))) });
  expect(small.status).toBe(200);
});
