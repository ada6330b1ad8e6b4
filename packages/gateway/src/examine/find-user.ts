/**
 * Finds the id of a user: by the login over `/jsonrpc`, or by the key over `/json/2`, where the key alone decides the
 * user.
 */
import type { ExaminationCheck } from '@erp-proxy/contract';
import { fetchWhole } from '@erp-proxy/egress';
import { classifyFault } from '@erp-proxy/odoo/faults';
import { buildUserRequest, classifyJson2Answer, readUserId } from '@erp-proxy/odoo/json2';
import { buildSignIn, readSignIn } from '@erp-proxy/odoo/jsonrpc';
import type { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { denyFailure } from '../terms/upstream-denials.ts';
import { READ_ONLY } from '../upstream/ask-version.ts';
import type { Protocols } from '../upstream/servers.ts';
import { denyStatus } from '../upstream/upstream-status.ts';
import type { ExamineDeps } from './examine-deps.ts';
import { createTextCleaner, explainAnswer, fail, failDatabase } from './explain-answer.ts';

const ANSWER_BYTES_MAX = 1024 * 1024;

/** Returns the id, or the check that has failed. Odoo records a sign-in of the user. */
export async function findUser(
  login: string,
  target: Target,
  { jsonrpc }: Protocols,
  deadline: Deadline,
  deps: ExamineDeps,
): Promise<number | ExaminationCheck> {
  const clean = createTextCleaner([target.apiKey]);
  if (jsonrpc) return signIn(login, target, deadline, deps);
  const owner = await findOwner(target, deadline, deps);
  // If the owner is unknown, the following checks say why.
  return owner === 'nobody' ? refuse(clean(login)) : (owner ?? target.userId);
}

async function signIn(
  login: string,
  { db, apiKey, origin, pathPrefix, trust }: Target,
  deadline: Deadline,
  { egress }: ExamineDeps,
): Promise<number | ExaminationCheck> {
  const clean = createTextCleaner([apiKey]);
  const answer = await fetchWhole(
    egress,
    {
      method: 'POST',
      path: `${pathPrefix}/jsonrpc`,
      headers: { 'content-type': 'application/json' },
      body: buildSignIn({ db, login, apiKey }),
      origin,
      trust,
    },
    { signal: deadline.signal, bytesMax: ANSWER_BYTES_MAX },
  );
  if (!answer.ok) return fail('odoo', explainAnswer(denyFailure(answer, READ_ONLY, deadline)));
  const read = answer.status === 200 ? readSignIn(answer.body) : null;
  if (read === null) return fail('odoo', explainAnswer(denyStatus(answer, READ_ONLY)));
  if ('userId' in read) return read.userId ?? refuse(clean(login));
  const { type, message } = classifyFault(read.error, { debug: false, secrets: [apiKey] }).data;
  if (type === 'database_missing') return failDatabase(db);
  return type === 'access_denied' ? refuse(clean(login)) : fail('user', `Odoo says: ${clean(message)}`);
}

function refuse(login: string): ExaminationCheck {
  return fail(
    'user',
    `Odoo signs nobody in with the login ${login} and this key: one of them is wrong, or the key has ended`,
  );
}

/** The user of the key, which `/json/2` tells (docs/odoo-facts.md#json2-user). Null if the user is unknown. */
export async function findOwner(
  target: Target,
  deadline: Deadline,
  { egress }: ExamineDeps,
): Promise<number | 'nobody' | null> {
  const request = buildUserRequest(target);
  if ('unmappable' in request) return null;
  const { origin, trust } = target;
  const answer = await fetchWhole(
    egress,
    { ...request, origin, trust },
    { signal: deadline.signal, bytesMax: ANSWER_BYTES_MAX },
  );
  if (!answer.ok) return null;
  const classified = classifyJson2Answer(answer, { debug: false, secrets: [target.apiKey] });
  if (classified.kind === 'fault') return classified.fault.data.type === 'access_denied' ? 'nobody' : null;
  return classified.kind === 'result' ? readUserId(answer.body) : null;
}
