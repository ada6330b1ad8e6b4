/** For tests: records of calls and of administrative actions. */
import type { CallRecord } from '@erp-proxy/observe/events';
import { TOKEN_ACTOR } from './actors.ts';
import type { AdminAction } from './record.ts';

export function makeCall(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    requestId: 'request-1',
    keyId: 'key1',
    clientId: 'client1',
    address: '192.0.2.1',
    batchIndex: null,
    id: '"the caller\'s own id"',
    instance: 'prod',
    upstream: 'https://erp.example.com',
    db: 'prod',
    model: 'res.partner',
    method: 'read',
    outcome: 'ok',
    code: null,
    rule: null,
    approval: null,
    via: null,
    httpStatus: 200,
    protocol: 'jsonrpc',
    upstreamStatus: 200,
    attempts: 1,
    sharedFrom: null,
    totalMs: 12.345,
    upstreamMs: 11.06,
    detail: 'a cause for the operator',
    ...changes,
  };
}

export function makeAdminAction(changes: Partial<AdminAction> = {}): AdminAction {
  return {
    actor: TOKEN_ACTOR,
    address: '192.0.2.7',
    requestId: 'request-2',
    action: 'key.update',
    target: 'key key1',
    changes: { name: { from: 'shop', to: 'web shop' } },
    ...changes,
  };
}
