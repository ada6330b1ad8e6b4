import { spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SAMPLES } from './receiver-samples.ts';

const SECRET = randomBytes(24).toString('base64');
const BODY = '{"type":"ping","text":"é"}';

describe.each([
  [
    'Python',
    'python3',
    ['-c'],
    (code: string, given: string) => `${code}
import json, sys
verify(sys.stdin.buffer.read(), json.loads('${given}'))
print("ok", end="")`,
  ],
  [
    'PHP',
    'php',
    ['-r'],
    (code: string, given: string) => `${code}
verify(file_get_contents('php://stdin'), json_decode('${given}', true));
echo 'ok';`,
  ],
] as const)('the receiver in %s', (language, program, options, print) => {
  const hasProgram = spawnSync(program, ['--version']).status === 0;
  const code = SAMPLES.find((sample) => sample.language === language)?.code ?? '';
  const run = (headers: Record<string, string>) =>
    spawnSync(program, [...options, print(code, JSON.stringify(headers))], {
      input: BODY,
      encoding: 'utf8',
      env: { ...process.env, WEBHOOK_SECRET: `whsec_${SECRET}` },
    });

  test.skipIf(!hasProgram)('takes a signed body, also beside the signature of an older secret', () => {
    expect(run(sign(now(), 'v1,AAAA ')).stdout).toBe('ok');
  });

  test.skipIf(!hasProgram)('refuses a wrong signature and an old one', () => {
    expect(run({ ...sign(now()), 'webhook-id': 'msg_2' }).stdout).not.toContain('ok');
    expect(run(sign(now() - 3_600)).stdout).not.toContain('ok');
  });
});

function now(): number {
  return Math.floor(Date.now() / 1000);
}

function sign(timestamp: number, before = ''): Record<string, string> {
  const mac = createHmac('sha256', Buffer.from(SECRET, 'base64')).update(`msg_1.${timestamp}.${BODY}`);
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `${before}v1,${mac.digest('base64')}`,
  };
}
