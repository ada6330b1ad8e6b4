/** Tests that answers of a firewall in front of Odoo are recognised, over every protocol, in calls and in `doctor`. */
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { runCommand } from '../commands/run-command.ts';
import { startPair } from '../pair.ts';
import { makeFolder } from '../process/program.ts';
import { makeCall } from '../scripted-upstream.ts';

const PAGE = '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>k</body></html>';

interface Wall {
  name: string;
  status: string;
  headers: string[];
  says: RegExp;
  outcome: string;
}

const CHALLENGE =
  /^A firewall \(Cloudflare\) in front of Odoo asks for a check that only a browser passes \(HTTP \d+\)\. Let the address of this proxy pass there\. /;
const WALLS: readonly Wall[] = [
  {
    name: 'a challenge of Cloudflare',
    status: '403 Forbidden',
    headers: ['server: cloudflare', 'cf-mitigated: challenge'],
    says: CHALLENGE,
    outcome: 'not_sent',
  },
  {
    name: 'a challenge of Cloudflare, as 503',
    status: '503 Service Unavailable',
    headers: ['server: cloudflare', 'cf-mitigated: challenge'],
    says: CHALLENGE,
    outcome: 'not_sent',
  },
  {
    name: 'a refusal of Cloudflare',
    status: '403 Forbidden',
    headers: ['server: cloudflare', 'cf-ray: 8a-AMS'],
    says: /^A firewall \(Cloudflare\) in front of Odoo refuses the request \(HTTP 403\)\. Let the address /,
    outcome: 'not_sent',
  },
  {
    name: 'a refusal of ModSecurity',
    status: '406 Not Acceptable',
    headers: ['server: nginx'],
    says: /^A firewall or reverse proxy in front of Odoo refuses the request \(HTTP 406\)/,
    outcome: 'not_sent',
  },
  {
    name: 'a captcha of AWS WAF',
    status: '405 Method Not Allowed',
    headers: ['x-amzn-waf-action: captcha'],
    says: /^A firewall \(AWS WAF\) in front of Odoo asks for a check /,
    outcome: 'not_sent',
  },
  {
    name: 'a challenge of Imperva, as 200',
    status: '200 OK',
    headers: ['x-iinfo: 1-2-3'],
    says: /^A firewall \(Imperva\) in front of Odoo asks for a check .*Odoo may have run the call/,
    outcome: 'unknown',
  },
];

const startBehind = async ({ status, headers }: Pick<Wall, 'status' | 'headers'>, protocol: string) =>
  closeAfterTest(
    await startPair(
      (socket) => {
        const head = [`HTTP/1.1 ${status}`, 'content-type: text/html; charset=UTF-8', ...headers];
        socket.end(
          `${[...head, `content-length: ${PAGE.length}`, 'connection: close'].join('\r\n')}\r\n\r\n${PAGE}`,
        );
      },
      { settings: { 'upstream.protocol': protocol } },
    ),
  );

test.each(['jsonrpc', 'json2', 'auto'])('calls over %s', async (protocol) => {
  for (const wall of WALLS) {
    const { proxy, upstream } = await startBehind(wall, protocol);
    const answer = await proxy.post(JSON.stringify(makeCall(upstream.url, { action: 'write' })));
    const { error } = JSON.parse(answer.body.toString());
    expect([wall.name, error.data.type]).toEqual([wall.name, 'upstream_bad_response']);
    // The other two protocols ask the server before they send the call, so the outcome can also be `not_sent`.
    const outcome = protocol !== 'jsonrpc' ? expect.stringMatching(/^(not_sent|unknown)$/) : wall.outcome;
    expect(error).toMatchObject({ message: expect.stringMatching(/in front of Odoo/), data: { outcome } });
    if (protocol === 'jsonrpc') expect(error.message).toMatch(wall.says);
    expect(answer.body.toString()).not.toContain('Just a moment');
  }
});

test('doctor', async () => {
  for (const wall of WALLS) {
    const { upstream } = await startBehind(wall, 'auto');
    const { url } = upstream;
    const ran = await runCommand(['doctor', url, `--egress.allow=${url}`], { folder: makeFolder() });
    expect([wall.name, ran.status]).toEqual([wall.name, 1]);
    expect(ran.stdout).toMatch(/^FAILED {2}odoo +A firewall .*Let the address of this proxy pass there\n$/m);
  }
});

test('a page of another server is none', async () => {
  for (const status of ['200 OK', '404 Not Found', '500 Internal Server Error']) {
    const { proxy, upstream } = await startBehind({ status, headers: ['server: nginx'] }, 'jsonrpc');
    const answer = await proxy.post(JSON.stringify(makeCall(upstream.url)));
    expect(answer.body.toString()).not.toContain('firewall');
  }
});
