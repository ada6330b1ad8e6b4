/**
 * Checks whether calls to an Odoo server work. Uses the same egress rules, choice of protocol, requests and fault
 * classification as calls. Its requests only read.
 */

import { ABORTED } from '@erp-proxy/async/tasks';
import type { Examination, ExaminationCheck } from '@erp-proxy/contract';
import { type EgressFailure, fetchWhole } from '@erp-proxy/egress';
import { Denial } from '../terms/denial.ts';
import type { Protocol } from '../terms/method-call.ts';
import { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { denyFailure } from '../terms/upstream-denials.ts';
import { findVersion, READ_ONLY } from '../upstream/ask-version.ts';
import type { Protocols } from '../upstream/servers.ts';
import { denyStatus } from '../upstream/upstream-status.ts';
import { examineCredentials } from './examine-credentials.ts';
import type { ExamineDeps } from './examine-deps.ts';
import { examineWay } from './examine-way.ts';
import { createTextCleaner, explainAnswer, fail } from './explain-answer.ts';
import { findUser } from './find-user.ts';

export interface Examined {
  target: Target;
  /** False if only the address of the server is known. */
  hasCredentials: boolean;
  /** Login of the user, to find the id by it; null if the target has the id. */
  login: string | null;
  /** Time limit of each request. */
  timeoutMs: number;
  /** Called for each check as soon as it is found. */
  onCheck?: OnCheck | undefined;
}

export type OnCheck = (check: ExaminationCheck) => void;

export async function examineServer(examined: Examined, deps: ExamineDeps): Promise<Examination> {
  const deadline = new Deadline();
  deadline.startClock(examined.timeoutMs * QUESTIONS_MAX);
  try {
    return await examine(examined, deadline, deps);
  } finally {
    deadline.clear();
  }
}

const QUESTIONS_MAX = 6;
const VERSION_BYTES_MAX = 64 * 1024;

export const NOTHING_FOUND: Omit<Examination, 'ok' | 'checks'> = {
  version: null,
  protocol: null,
  user: null,
  key: null,
  round_trip_ms: null,
};

async function examine(
  { target, hasCredentials, login, timeoutMs, onCheck }: Examined,
  deadline: Deadline,
  deps: ExamineDeps,
): Promise<Examination> {
  const checks: ExaminationCheck[] = [];
  const clean = createTextCleaner(hasCredentials ? [target.apiKey] : []);
  const addCheck = (check: ExaminationCheck) => {
    checks.push(check);
    onCheck?.(check);
  };
  addCheck({ name: 'url', state: 'ok', text: target.origin + target.pathPrefix });
  const conclude = (found: Partial<Examination> = {}): Examination => ({
    ok: checks.every(({ state }) => state !== 'failed'),
    checks,
    ...NOTHING_FOUND,
    ...found,
  });
  const denied = deps.egress.check(target.origin, target.trust);
  if (denied !== null) {
    const way = examineWay({ reason: 'denied', detail: denied.detail }, target.origin, deps.allow);
    way.slice(-1).forEach(addCheck);
    return conclude();
  }
  const asked = await askVersion(target, timeoutMs, deadline, deps);
  examineWay(asked.failure, target.origin, deps.allow).forEach(addCheck);
  if (asked.failure !== null) return conclude();

  const spoken = asked.unreadable ?? (await findProtocols(target, deadline, deps));
  if (spoken instanceof Denial) {
    const reason = asked.version instanceof Denial ? asked.version : spoken;
    addCheck({ name: 'odoo', state: 'failed', text: explainAnswer(reason) });
    return conclude();
  }
  addCheck({ name: 'odoo', state: 'ok', text: describeProtocols(spoken) });
  const version = asked.version instanceof Denial ? null : clean(asked.version.server_serie);
  addCheck(
    asked.version instanceof Denial
      ? { name: 'version', state: 'skipped', text: 'the server does not report its version' }
      : { name: 'version', state: 'ok', text: `Odoo ${version} (${clean(asked.version.server_version)})` },
  );
  if (!hasCredentials) {
    addCheck({ name: 'user', state: 'skipped', text: 'give database, user and key to check them' });
    return conclude({ version });
  }
  const userId = login === null ? target.userId : await findUser(login, target, spoken, deadline, deps);
  if (typeof userId !== 'number') {
    addCheck(userId);
    return conclude({ version });
  }
  const facts = await examineCredentials({ ...target, userId }, spoken, deadline, {
    ...deps,
    addCheck,
    clean,
  });
  // Without /jsonrpc, the login is not checked: the user is that of the key.
  const isOther = login !== null && facts.user !== null && facts.user.login !== clean(login);
  if (isOther && !spoken.jsonrpc)
    addCheck(fail('user', `the key is that of ${facts.user?.login}, not of ${clean(login)}`));
  return conclude({ ...facts, version });
}

/**
 * Asks for the version, or why it is unknown. `failure`: the server could not be reached. `unreadable`: its answer is
 * not HTTP.
 */
async function askVersion(target: Target, timeoutMs: number, deadline: Deadline, { egress }: ExamineDeps) {
  let failure: EgressFailure | null = null;
  let isReadable = false;
  const version = await findVersion(target, async (_protocol, request) => {
    const answer = await fetchWhole(
      egress,
      { ...request, origin: target.origin, trust: target.trust },
      {
        signal: AbortSignal.any([deadline.signal, AbortSignal.timeout(timeoutMs)]),
        bytesMax: VERSION_BYTES_MAX,
      },
    );
    if (answer.ok) {
      isReadable = true;
      return answer;
    }
    // Another program than Odoo has answered, which is reported below.
    if (answer.reason !== 'bad_response') failure = answer;
    return denyFailure(answer, READ_ONLY, deadline);
  });
  const unreadable = version instanceof Denial && !isReadable ? version : null;
  return { version, failure: failure as EgressFailure | null, unreadable };
}

/** The protocols that calls would use: the one of the settings, or those that the server supports. */
async function findProtocols(
  target: Target,
  deadline: Deadline,
  { servers, protocolFor }: ExamineDeps,
): Promise<Protocols | Denial> {
  const chosen = protocolFor(target);
  if (chosen !== 'auto') return { jsonrpc: chosen === 'jsonrpc', json2: chosen === 'json2' };
  const spoken = await servers.findProtocols(target, deadline.signal);
  if (spoken === ABORTED) return new Denial('upstream_timeout', 'Odoo did not answer in time.');
  if ('failure' in spoken) {
    return spoken.failure.ok
      ? denyStatus(spoken.failure, READ_ONLY)
      : denyFailure(spoken.failure, READ_ONLY, deadline);
  }
  if (spoken.jsonrpc || spoken.json2) return spoken;
  return new Denial('upstream_bad_response', 'The server has neither protocol.', {
    detail: 'neither /jsonrpc nor /json/2',
  });
}

function describeProtocols({ jsonrpc, json2 }: Protocols): string {
  const names: Protocol[] = [
    ...(jsonrpc ? (['jsonrpc'] as const) : []),
    ...(json2 ? (['json2'] as const) : []),
  ];
  return `it is called over ${names.map((name) => PATHS[name]).join(' and ')}`;
}

const PATHS = { jsonrpc: '/jsonrpc', json2: '/json/2' } as const;
