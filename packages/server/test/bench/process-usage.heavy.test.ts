import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readCpuMs, readWakeUps } from '../../../../bench/process-usage.ts';

/** Starts a child that uses 200 ms of processor time and then reports so. */
const PARENT = `
  const code = 'while (process.cpuUsage().user < 200_000); console.log("used"); process.stdin.on("end", () => process.exit()).resume()';
  require('node:child_process').spawn(process.execPath, ['-e', code], { stdio: 'inherit' });
`;

test.runIf(process.platform === 'linux')('CPU time and wake-ups include those of children', async () => {
  const parent = spawn(process.execPath, ['-e', PARENT], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(parent.stdout, 'data');
    const pid = parent.pid as number;
    expect(readCpuMs(pid)).toBeGreaterThan(200);
    expect(readWakeUps(pid)).toBeGreaterThan(0);
  } finally {
    parent.kill();
    // The child ends when its input ends.
    parent.stdin.destroy();
  }
});
