/**
 * Checks database, user and key: which of them is wrong, if Odoo reports it, who the user is, and when the key expires.
 */

import { type ByteStream, ByteStreamError, readStream } from '@erp-proxy/async/streams';
import { type Examination, type ExaminationCheck, tryParse } from '@erp-proxy/contract';
import {
  describeKeyQuery,
  findExpiry,
  KEYS_MODEL,
  type OdooKey,
  readOdooKeys,
} from '@erp-proxy/control/key-rotation';
import { isApiKeyShaped } from '@erp-proxy/odoo/json2';
import { startTrace } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { Reply } from '../terms/reply.ts';
import type { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { runMethod } from '../upstream/send-call.ts';
import type { Protocols } from '../upstream/servers.ts';
import type { ExamineDeps } from './examine-deps.ts';
import { type CleanText, explainAnswer, fail, failDatabase } from './explain-answer.ts';
import { findOwner } from './find-user.ts';

type Facts = Pick<Examination, 'protocol' | 'user' | 'key' | 'round_trip_ms'>;

interface CredentialsDeps extends ExamineDeps {
  /** Called with each check as soon as it is found. */
  addCheck: (check: ExaminationCheck) => void;
  clean: CleanText;
}

const DAY_MS = 86_400_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const USER_FIELDS = ['name', 'login', 'company_id'];

export async function examineCredentials(
  target: Target,
  spoken: Protocols,
  deadline: Deadline,
  deps: CredentialsDeps,
): Promise<Facts> {
  const { addCheck, clean } = deps;
  const facts: Facts = { protocol: null, user: null, key: null, round_trip_ms: null };
  const { db, userId } = target;

  async function run(model: string, method: string, params: unknown[], keyword: object): Promise<Reply> {
    const trace = startTrace(deps.nowMs(), null);
    const call = {
      model,
      method,
      params: Buffer.from(JSON.stringify(params)),
      keyword: Buffer.from(JSON.stringify(keyword)),
      records: 'unsaid' as const,
      isReadOnly: true,
      target,
    };
    const context = { trace, time: { deadline }, isUnchanged: async () => true };
    const { reply } = await runMethod(call, context, deps);
    facts.protocol = trace.protocol ?? facts.protocol;
    if (trace.sentMs !== null && trace.answeredMs !== null) {
      const tookMs = Math.round(trace.answeredMs - trace.sentMs);
      facts.round_trip_ms = Math.min(facts.round_trip_ms ?? tookMs, tookMs);
    }
    return reply;
  }

  const reply = await run('res.users', 'read', [[userId]], { fields: USER_FIELDS });
  const refusal = await explainRefusal(reply, target, spoken, deadline, deps);
  if (refusal !== null) {
    refusal.forEach(addCheck);
    return facts;
  }
  const { user, check } = await readUser(reply, userId, clean);
  facts.user = user;
  addCheck({ name: 'database', state: 'ok', text: `${db} is there` });
  addCheck(check);
  addCheck({ name: 'key', state: 'ok', text: `Odoo accepts it for user ${userId}` });

  const keys = await run(KEYS_MODEL, 'search_read', [], describeKeyQuery(userId));
  const expiry = describeExpiry(target.apiKey, await readKeys(keys, deps.clock()), deps.clock());
  facts.key = expiry.key;
  const path = facts.protocol === 'json2' ? '/json/2' : '/jsonrpc';
  addCheck(expiry.check);
  addCheck({ name: 'protocol', state: 'ok', text: `calls of this user go over ${path}` });
  addCheck({ name: 'time', state: 'ok', text: `${facts.round_trip_ms} ms for a short call` });
  return facts;
}

/** Null if the credentials are accepted. */
async function explainRefusal(
  reply: Reply,
  target: Target,
  spoken: Protocols,
  deadline: Deadline,
  deps: CredentialsDeps,
): Promise<ExaminationCheck[] | null> {
  const { db, userId } = target;
  const hasDatabase: ExaminationCheck = { name: 'database', state: 'ok', text: `${db} is there` };
  if (reply instanceof Denial) {
    return [fail('odoo', explainAnswer(reply))];
  }
  if (reply.kind !== 'fault') return null;
  const { type, name, message } = reply.fault.data as { type?: unknown; name?: unknown; message?: unknown };
  if (type === 'database_missing') {
    return [failDatabase(db)];
  }
  // The check reads fields that users may read of their own record. An access error by a rule means that the
  // credentials were accepted.
  if (type !== 'access_denied') {
    return type === 'access_error' ? null : [hasDatabase, fail('user', `Odoo says: ${deps.clean(message)}`)];
  }
  if (name === 'odoo.exceptions.MissingError') {
    return [hasDatabase, fail('user', `${db} has no user ${userId}; check the user's number`)];
  }
  const owner = spoken.json2 ? await findOwner(target, deadline, deps) : null;
  if (owner === null) {
    const text = `Odoo refuses it: it is wrong or has ended, or it is the key of another user than ${userId}; this server does not tell which`;
    return [hasDatabase, fail('key', text)];
  }
  if (owner === 'nobody') {
    // From saas-19.4 on, the dialog for a new key asks for its scope.
    const text =
      'Odoo knows no such key for calls: it is wrong, has ended, or has another scope than RPC, such as MCP, which serves only the /mcp of Odoo itself';
    return [hasDatabase, fail('key', text)];
  }
  return [hasDatabase, fail('user', `the key is that of user ${owner}, not of ${userId}`)];
}

async function readUser(
  reply: Reply,
  userId: number,
  clean: CleanText,
): Promise<{ user: Examination['user']; check: ExaminationCheck }> {
  const rows = await readValue(reply);
  const row = Array.isArray(rows) ? (rows[0] as Record<string, unknown> | undefined) : undefined;
  if (row === undefined) {
    const text = `${userId} is accepted, and may not read its own name`;
    return { user: null, check: { name: 'user', state: 'ok', text } };
  }
  const company = Array.isArray(row['company_id']) ? clean(row['company_id'][1]) : null;
  const user = { id: userId, name: clean(row['name']), login: clean(row['login']), company };
  const text = `${userId} is ${user.name} (${user.login})${company === null ? '' : ` of ${company}`}`;
  return { user, check: { name: 'user', state: 'ok', text } };
}

/** The API keys of the user, or why they are unknown. `no dates`: this version of Odoo has no expiry dates. */
async function readKeys(reply: Reply, now: number): Promise<OdooKey[] | 'no dates' | 'unknown'> {
  if (!(reply instanceof Denial) && reply.kind === 'fault') {
    return reply.fault.data['type'] === 'query_invalid' ? 'no dates' : 'unknown';
  }
  return readOdooKeys(await readValue(reply), now) ?? 'unknown';
}

function describeExpiry(
  apiKey: string,
  keys: Awaited<ReturnType<typeof readKeys>>,
  now: number,
): { key: NonNullable<Examination['key']>; check: ExaminationCheck } {
  const unknown = (text: string) => ({
    key: { expires_at: null, is_expiry_known: false },
    check: { name: 'expiry', state: 'skipped', text } as const,
  });
  if (!isApiKeyShaped(apiKey)) return unknown('it is a password, or no key that Odoo has made');
  if (keys === 'unknown') return unknown('Odoo does not tell when the key ends');
  const expiresAt = keys === 'no dates' ? null : findExpiry(apiKey, keys);
  if (expiresAt === undefined) {
    return unknown('the user has several keys, and Odoo does not tell which one this is');
  }
  if (expiresAt === null) {
    const text = keys === 'no dates' ? 'keys of this version do not end' : 'the key does not end';
    return { key: { expires_at: null, is_expiry_known: true }, check: { name: 'expiry', state: 'ok', text } };
  }
  const at = new Date(expiresAt).toISOString();
  const text = `the key ends at ${at}, in ${Math.floor((expiresAt - now) / DAY_MS)} days`;
  return { key: { expires_at: at, is_expiry_known: true }, check: { name: 'expiry', state: 'ok', text } };
}

/** Reads the value of a result; undefined if the reply has none. */
async function readValue(reply: Reply): Promise<unknown> {
  if (reply instanceof Denial || reply.kind !== 'result') return undefined;
  const { pieces, rest, tail } = reply;
  const more = rest === null ? Buffer.alloc(0) : await readRest(rest);
  if (more === null) return undefined;
  const text = Buffer.concat([...pieces, more]).toString();
  // If there is no tail, the text ends with the closing brace of the envelope.
  return tryParse(tail.length > 0 ? text : text.replace(/\}\s*$/, ''));
}

/** Null if the reply breaks off, or is too long for an answer to these questions. */
async function readRest(rest: ByteStream): Promise<Uint8Array | null> {
  try {
    return await readStream(rest, ANSWER_BYTES_MAX);
  } catch (error) {
    if (error instanceof ByteStreamError) return null;
    throw error;
  } finally {
    rest.cancel();
  }
}
