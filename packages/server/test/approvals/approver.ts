/**
 * For tests: starts a proxy in front of a scripted Odoo, with a key whose policy asks for approvals, and an
 * administrator.
 */
import type { Policy } from '@erp-proxy/contract';
import { closeAfterTest } from '../close-after-test.ts';
import type { ProxyOptions } from '../harness.ts';
import { startPair } from '../pair.ts';
import { answerTrue, makeCall, type Script } from '../scripted-upstream.ts';
import { TEST_ACTOR } from '../test-actor.ts';

export interface ApproverOptions extends ProxyOptions {
  script?: Script;
  policy?: Partial<Policy>;
}

/**
 * `unlink` of every model needs an approval. Without `search_read`, no names of records are read. The clock can be set:
 * `time.now`.
 */
export async function startApprover({ script = answerTrue, policy = {}, ...options }: ApproverOptions = {}) {
  const time = { now: Date.now() };
  const { proxy, upstream, close } = await startPair(script, { clock: () => time.now, ...options });
  closeAfterTest({ close });
  const { app } = proxy;
  const policyOf = (changes: Partial<Policy> = {}): Policy => ({
    origins: [upstream.url],
    instances: ['*'],
    models: { '*': ['unlink', 'button_draft', 'read', 'write'] },
    approve: { '*': ['unlink'] },
    ...policy,
    ...changes,
  });
  const makeClient = async (changes?: Partial<Policy>) => {
    const { key, record } = await app.keys.create({ name: 'client', policy: policyOf(changes) });
    return { id: record.id, key };
  };
  const client = await makeClient();
  const unlink = (changes: Record<string, unknown> = {}) =>
    makeCall(upstream.url, { action: 'unlink', model_id: 'account.move', params: [[7]], ...changes });

  /** Sends a call, or several as a batch. `approval` goes into the header. */
  const call = async (body: unknown, headers: Record<string, string | undefined> = {}) => {
    const given = Object.entries({ 'x-proxy-api': client.key, ...headers }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return proxy.call(body, Object.fromEntries(given));
  };
  const callWith = (approval: string, body: unknown = unlink(), headers: Record<string, string> = {}) =>
    call(body, { 'x-approval': approval, ...headers });

  /** Asks for an approval of the call, and returns its id. */
  const ask = async (body: unknown = unlink(), headers?: Record<string, string>): Promise<string> => {
    const { json } = await call(body, headers);
    if (json.error?.data?.type !== 'approval_required') throw new Error(JSON.stringify(json));
    return json.error.data.approval;
  };
  const admin = app.adminFor({ ...TEST_ACTOR, address: '192.0.2.9', requestId: 'decided' });
  return {
    proxy,
    app,
    upstream,
    time,
    client,
    makeClient,
    policyOf,
    unlink,
    call,
    callWith,
    ask,
    admin,
    /** Asks for an approval of the call, and approves it. */
    async askAndApprove(body?: unknown, headers?: Record<string, string>): Promise<string> {
      const id = await ask(body, headers);
      await admin.approveCall(id);
      return id;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
type Json = any;

/** The outcome for the caller: `ok`, or the type of the error. */
export function readOutcome({ json }: { json: Json }): string {
  return json.error?.data?.type ?? 'ok';
}
