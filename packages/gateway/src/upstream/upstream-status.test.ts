import type { KeyedRecord } from '@erp-proxy/control/instances';
import { createAskOdoo } from '@erp-proxy/control/key-rotation';
import type { EgressAnswer, EgressRequest } from '@erp-proxy/egress';
import { RetryBudget } from '@erp-proxy/traffic/limits';
import { createTestLimiters, expectPermit } from '@erp-proxy/traffic/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Denial } from '../terms/denial.ts';
import type { Protocol, UpstreamCall } from '../terms/method-call.ts';
import { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { findVersion } from './ask-version.ts';
import { type ReceivedReply, receiveReply } from './receive.ts';
import { retry } from './retry.ts';
import { receiveJson2Refusal } from './send-call.ts';
import { Servers } from './servers.ts';
import { denyStatus } from './upstream-status.ts';

const PAGE = { type: 'text/html', body: '<html>' };
const FAULT = {
  type: 'application/json',
  body: '{"name": "odoo.exceptions.UserError", "message": "no", "arguments": ["no"], "context": {}}',
};
const LOGIN = '/odoo/web/login?redirect=%2F';
const DEADLINE_MS = 15_000;
const SETTINGS = { answerBytesMax: 10_000, isDebug: false };
const target: Target = {
  origin: 'https://erp.example.com',
  pathPrefix: '/odoo',
  db: 'prod',
  userId: 2,
  apiKey: 'k'.repeat(40),
  trust: null,
  instance: null,
  connection: null,
  credentialsId: 'one',
};

function makeAnswer(status: number, { type, body }: typeof PAGE, location?: string): EgressAnswer {
  const pieces = [Buffer.from(body)];
  const headers = { 'content-type': type, ...(location === undefined ? {} : { location }) };
  return {
    ok: true,
    status,
    headers,
    bodyLength: null,
    body: { next: async () => pieces.shift() ?? null, cancel() {} },
  };
}

function makeCall(protocol: Protocol): UpstreamCall {
  const call = { protocol, target, isReadOnly: false, resultShape: 'same', model: 'a', method: 'b' } as const;
  return { ...call, request: {} as EgressRequest };
}

function summarize(reply: ReceivedReply): string {
  if (reply instanceof Denial) {
    const { outcome = 'no outcome', passedStatus } = reply.more;
    return `${reply.type} ${outcome}${passedStatus === undefined ? '' : ', status passed'}`;
  }
  if (reply.kind === 'contradiction') return `${reply.about}, else ${summarize(reply.otherwise as Denial)}`;
  return reply.kind;
}

/** A server that answers every request with this status and a page. */
function serveStatus(status: number, location?: string) {
  const asked: string[] = [];
  const egress = {
    check: () => null,
    close: async () => {},
    async send({ path }: EgressRequest) {
      asked.push(path.replace('/odoo/', ''));
      return makeAnswer(status, PAGE, location);
    },
  };
  return { asked, egress };
}

async function receive(protocol: Protocol, ...given: Parameters<typeof makeAnswer>): Promise<string> {
  return summarize(await receiveReply(makeAnswer(...given), makeCall(protocol), new Deadline(), SETTINGS));
}

async function refuseJson2(...given: Parameters<typeof makeAnswer>): Promise<string> {
  const call = makeCall('json2');
  return summarize(await receiveJson2Refusal(makeAnswer(...given), call, new Deadline(), SETTINGS));
}

/** Whether a read is sent again. */
async function isSentAgain(status: number, retryAfter?: string | string[], date?: string): Promise<boolean> {
  const { clock, acquire } = createTestLimiters();
  let sent = 0;
  const send = async () => {
    sent++;
    const answer = makeAnswer(status, PAGE);
    const egressResult = { ...answer, headers: { ...answer.headers, 'retry-after': retryAfter, date } };
    return { reply: denyStatus(egressResult, { isReadOnly: true }), egressResult };
  };
  const permit = expectPermit(acquire({ deadlineMs: clock.nowMs + DEADLINE_MS }));
  const asked = { send, isReadOnly: true, database: 'a', permit, deadline: new Deadline(), onRetry() {} };
  const done = retry(asked, { budget: new RetryBudget(() => clock.nowMs), max: 1, random: () => 0 });
  // Not until no timer is left: a timer that is set again each time would never end this.
  if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(DEADLINE_MS);
  await done;
  return sent > 1;
}

/** The paths that are asked for the version, and the type of the error. */
async function askVersion(status: number, location?: string): Promise<string> {
  const paths: string[] = [];
  const found = await findVersion(target, async (_protocol, { path }) => {
    paths.push(path.replace('/odoo/', ''));
    return { ...makeAnswer(status, PAGE, location), body: Buffer.from(PAGE.body) };
  });
  return `${paths.join(', ')}: ${summarize(found as Denial)}`;
}

/** The number of requests that ask which protocols a server has, and the result. */
async function findProtocols(status: number, location?: string): Promise<string> {
  const { asked, egress } = serveStatus(status, location);
  const servers = new Servers({ egress, nowMs: () => 0, timeoutMs: 60_000, bytesMax: 10_000 });
  const found = await servers.findProtocols(target, new AbortController().signal);
  const isKnown = typeof found === 'object' && !('failure' in found);
  return `${asked.length} asked, ${isKnown ? JSON.stringify(found) : 'not known'}`;
}

/** The protocols that key rotation tries, and its error. */
async function rotate(status: number, location?: string): Promise<string> {
  const { asked, egress } = serveStatus(status, location);
  const instance = { url: 'https://erp.example.com/odoo', db: 'prod', userId: 2, protocol: 'auto' };
  const ask = createAskOdoo({ egress, timeoutMs: 60_000 });
  const question = { model: 'a', method: 'b', keyword: {} };
  const answer = await ask(instance as unknown as KeyedRecord, target.apiKey, question);
  const text = 'message' in answer ? answer.message.replace(String(status), 'N') : '';
  return `${asked.join(', ')}: ${answer.kind}, ${text}`;
}

interface Meaning {
  /** The reply to a call over /jsonrpc. */
  jsonrpc: string;
  /** The replies to a call over /json/2: if the answer is a page, and if it is a fault of Odoo. */
  json2: [page: string, fault: string];
  /** The same for a caller that itself speaks /json/2. */
  ownJson2: [page: string, fault: string];
  isSentAgain: boolean;
  version: string;
  protocols: string;
  rotation: string;
}

async function findMeaning(status: number, location?: string): Promise<Meaning> {
  return {
    jsonrpc: await receive('jsonrpc', status, PAGE, location),
    json2: [await receive('json2', status, PAGE, location), await receive('json2', status, FAULT, location)],
    ownJson2: [await refuseJson2(status, PAGE, location), await refuseJson2(status, FAULT, location)],
    isSentAgain: await isSentAgain(status),
    version: await askVersion(status, location),
    protocols: await findProtocols(status, location),
    rotation: await rotate(status, location),
  };
}

const NO_ANSWER = "jsonrpc: unanswered, HTTP N that is no answer of Odoo's";
const NO_PROTOCOL = '2 asked, {"jsonrpc":false,"json2":false}';

/** An answer that is not Odoo's, from a server that may have the route. */
function expectBad(denial: string): Meaning {
  return {
    jsonrpc: denial,
    json2: [denial, denial],
    ownJson2: [denial, denial],
    isSentAgain: false,
    version: `jsonrpc: ${denial}`,
    protocols: '2 asked, not known',
    rotation: NO_ANSWER,
  };
}

/** A status that has one meaning for every request. */
function expectSame(denial: string, isSentAgain: boolean): Meaning {
  const passed = `${denial}, status passed`;
  return { ...expectBad(denial), ownJson2: [passed, passed], isSentAgain, protocols: '1 asked, not known' };
}

function expectRedirect(denial: string): Meaning {
  return {
    ...expectBad(denial),
    jsonrpc: `jsonrpc_missing, else ${denial}`,
    version: `jsonrpc, json/version: ${denial}`,
    protocols: NO_PROTOCOL,
    rotation: 'jsonrpc, json/2/a/b: unanswered, HTTP N',
  };
}

/** A server without the route. */
function expectMissing(ownPage: string, fault: string): Meaning {
  const denial = 'upstream_bad_response not_sent';
  return {
    ...expectRedirect(denial),
    json2: [`json2_missing, else ${denial}`, fault === 'fault' ? fault : `json2_missing, else ${denial}`],
    ownJson2: [ownPage, fault],
    rotation: "jsonrpc, json/2/a/b: unanswered, the server answers none of Odoo's protocols",
  };
}

/** An error of Odoo, or a page of another program. */
function expectError(denial: string): Meaning {
  const own: Meaning['ownJson2'] = [`${denial}, status passed`, 'fault'];
  return { ...expectBad(denial), json2: [denial, 'fault'], ownJson2: own };
}

const NOT_RUN = 'upstream_bad_response not_sent';
const MAY_HAVE_RUN = 'upstream_bad_response unknown';
const STATUSES = [...Array.from({ length: 500 }, (_, index) => 100 + index), 600, 999];

/** The first row with the status applies. */
const MEANINGS: [statuses: number[], Meaning][] = [
  [[200], { ...expectBad(MAY_HAVE_RUN), json2: [MAY_HAVE_RUN, 'result'] }],
  [[301, 308], expectRedirect(NOT_RUN)],
  [[403, 405, 410], expectMissing(`${NOT_RUN}, status passed`, 'fault')],
  [[404], expectMissing('json2_missing no outcome', 'fault')],
  [[413], expectSame('payload_too_large no outcome', false)],
  [[429], expectSame('overloaded not_sent', false)],
  [[502, 520, 521, 523, 525, 526, 530], expectSame('upstream_unreachable unknown', true)],
  [[503], expectSame('overloaded unknown', true)],
  [[504, 522, 524], expectSame('upstream_timeout unknown', true)],
  [STATUSES.filter((status) => status < 300), expectBad(MAY_HAVE_RUN)],
  [STATUSES.filter((status) => status < 400), expectRedirect(MAY_HAVE_RUN)],
  [STATUSES.filter((status) => status < 500), expectError(NOT_RUN)],
  [STATUSES, expectError(MAY_HAVE_RUN)],
];

function findExpected(status: number): Meaning | undefined {
  return MEANINGS.find(([statuses]) => statuses.includes(status))?.[1];
}

describe('every status of an upstream has the same meaning in all parts', () => {
  test('without a location', async () => {
    for (const status of STATUSES)
      expect(await findMeaning(status), `HTTP ${status}`).toEqual(findExpected(status));
  });

  test('with the location of the login page, which only 303 makes a missing route', async () => {
    const missing = expectMissing('json2_missing no outcome', 'json2_missing no outcome');
    for (const status of STATUSES)
      expect(await findMeaning(status, LOGIN), `HTTP ${status}`).toEqual(
        status === 303 ? missing : findExpected(status),
      );
  });
});

const MAY_HAVE_RUN_TEXT = 'Odoo may have run the call: look there before sending it again.';
const TEXTS: Record<number, string> = {
  413: 'The server refuses a body of this size; send less in one call.',
  429: 'The server is overloaded; wait 1 s. The call was not run.',
  500: `The server answered HTTP 500 and not as Odoo does. The log of the server has the cause. ${MAY_HAVE_RUN_TEXT}`,
  503: `The server is overloaded; wait 1 s. ${MAY_HAVE_RUN_TEXT}`,
};
for (const status of [502, 520, 521, 523, 525, 526, 530])
  TEXTS[status] =
    `The reverse proxy in front of Odoo does not reach it (HTTP ${status}). ${MAY_HAVE_RUN_TEXT}`;
for (const status of [504, 522, 524])
  TEXTS[status] =
    `The reverse proxy in front of Odoo gave up waiting for it (HTTP ${status}). ${MAY_HAVE_RUN_TEXT}`;

test('every status has its text', () => {
  for (const status of STATUSES) {
    const isNotRun = (status >= 400 && status < 500) || status === 301 || status === 308;
    const advice = isNotRun ? 'The call was not run.' : MAY_HAVE_RUN_TEXT;
    const other = `The server answered HTTP ${status} and not as Odoo does. Check that \`erp_instance.url\` is its base address. ${advice}`;
    const { message, more } = denyStatus({ status, headers: {} }, { isReadOnly: false });
    expect(message).toBe(TEXTS[status] ?? other);
    expect(more.detail).toBe(`HTTP ${status}`);
  }
});

describe('the header retry-after', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const DATE = 'Wed, 21 Oct 2015 07:28:00 GMT';
  /** The server's clock, 90 seconds before. */
  const CLOCK = 'Wed, 21 Oct 2015 07:26:30 GMT';

  /** Whether a read is sent again, and the seconds that its caller gets. */
  test.each<
    [given: string | string[] | undefined, date: string | undefined, isSentAgain: boolean, seconds: number]
  >([
    [undefined, CLOCK, true, 1],
    ['0', CLOCK, true, 0],
    ['2', undefined, true, 2],
    ['3', CLOCK, false, 3],
    ['999999999', CLOCK, false, 999999999],
    ['9999999999', CLOCK, true, 1],
    ['-1', CLOCK, true, 1],
    ['1.5', CLOCK, true, 1],
    ['soon', CLOCK, true, 1],
    [DATE, CLOCK, false, 90],
    [DATE, DATE, true, 0],
    [CLOCK, DATE, true, 0],
    [DATE, undefined, false, 60],
    [DATE, 'now', false, 60],
    ['Wed, 21 Oct 15 07:28 GMT', CLOCK, false, 60],
    ['Wednesday, 21-Oct-15 07:28:00 GMT', CLOCK, true, 1],
    [['1', '2'], CLOCK, true, 1],
  ])('%j at %j', async (given, date, isAgain, seconds) => {
    expect(await isSentAgain(503, given, date)).toBe(isAgain);
    const headers = { 'retry-after': given, date };
    const { message, more } = denyStatus({ status: 503, headers }, { isReadOnly: true });
    expect(message).toMatch(`The server is overloaded; wait ${seconds} s. `);
    expect([more.headers, more.retryAfterSeconds]).toEqual([undefined, seconds]);
  });
});

test.each([
  [301, 'https://erp.example.com/odoo/jsonrpc', 'https://erp.example.com/odoo'],
  [308, 'https://erp.example.com/jsonrpc?x=1#y', 'https://erp.example.com'],
  [302, 'http://user:secret@erp.example.com:8069/', 'http://erp.example.com:8069'],
  [307, '/odoo/json/2/res.partner/read', 'the path /odoo'],
  [302, 'ftp://erp.example.com/', null],
  [301, 'http://[', null],
  [301, '/web/login?redirect=x', null],
  [301, `https://erp.example.com/${'x'.repeat(300)}`, null],
  [404, 'https://erp.example.com/', null],
])('a redirect (%i) to %s is told with its target', (status, location, target) => {
  const { message } = denyStatus({ status, headers: { location } }, { isReadOnly: true });
  if (target === null) expect(message).toContain('base address');
  else expect(message).toContain(`It redirects to ${target}, which`);
  expect(message).not.toContain('secret');
});

test('a long fault for callers of `/json/2` does not block the event loop', async () => {
  const debug = JSON.stringify(Array(2_000_000).fill(0));
  const answer = makeAnswer(422, { ...FAULT, body: FAULT.body.replace('{}', `{"list": ${debug}}`) });
  const deadline = new Deadline();
  const settings = { ...SETTINGS, answerBytesMax: 10_000_000 };
  const reply = receiveJson2Refusal(answer, makeCall('json2'), deadline, settings);
  setImmediate(() => deadline.end('timeout'));
  expect(summarize(await reply)).toBe('upstream_timeout unknown');
});
