/** Sends a call of the playground and reads the whole answer. */
import type { ExecuteAnswer } from '@erp-proxy/contract';
import { sendRaw } from '../../api/send.ts';
import type { OdooServer } from '../../parts/odoo-queries.ts';
import { type CallParts, omitEmpty } from '../../parts/print-call.ts';

export interface SentCall {
  call: CallParts;
  server: OdooServer;
  /** Id of the key whose policy applies; empty: no policy. */
  keyId: string;
  values: 'raw' | 'normalized';
}

export interface Answer {
  status: number;
  /** The answer as received. */
  text: string;
  bytes: number;
  body: ExecuteAnswer;
  /** Time from the request to the last byte. */
  totalMs: number;
  timing: string | null;
  requestId: string | null;
  /** The limit that the policy set in place of the call's. */
  limit: string | null;
  call: CallParts;
}

/** Throws a ProblemError if the proxy did not run the call. */
export async function runCall(sent: SentCall, signal: AbortSignal): Promise<Answer> {
  const startedMs = performance.now();
  const body = describeBody(sent);
  const response = await sendRaw({ method: 'POST', path: '/execute', body }, signal);
  const bytes = await response.arrayBuffer();
  const totalMs = performance.now() - startedMs;
  const text = new TextDecoder().decode(bytes);
  return {
    status: response.status,
    text,
    bytes: bytes.byteLength,
    body: JSON.parse(text) as ExecuteAnswer,
    totalMs,
    timing: response.headers.get('server-timing'),
    requestId: response.headers.get('x-request-id'),
    limit: response.headers.get('erp-proxy-limit'),
    call: sent.call,
  };
}

/** The body that is sent. It contains the key of a server that is not stored. */
export function describeBody({ call, server, keyId, values }: SentCall) {
  return {
    call: { ...omitEmpty(call), erp_instance: server.instance },
    ...(keyId === '' ? {} : { key_id: keyId }),
    ...(values === 'normalized' ? { values } : {}),
  };
}
