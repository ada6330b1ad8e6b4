/** Checks that an answer is valid JSON-RPC and that its error, if any, is in the error table. */
import { BUSINESS_ERRORS, PROXY_ERRORS } from '@erp-proxy/contract';

/** Returns the first defect; null if there is none. */
export function findDefect(status: number, contentType: string | undefined, body: Buffer): string | null {
  if (contentType !== 'application/json') return `content-type ${contentType}`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return 'the body is not JSON in UTF-8';
  }
  if (!Array.isArray(parsed)) return checkOne(parsed, status);
  if (status !== 200) return `a batch with status ${status}`;
  return parsed.map((one) => checkOne(one, null)).find((defect) => defect !== null) ?? null;
}

interface ErrorData {
  type: string;
  retryable: unknown;
}

function checkOne(answer: unknown, status: number | null): string | null {
  if (typeof answer !== 'object' || answer === null) return 'an answer that is not an object';
  const { jsonrpc, id, ...rest } = answer as Record<string, unknown>;
  if (jsonrpc !== '2.0') return 'jsonrpc is not 2.0';
  if (id !== null && typeof id !== 'string' && !Number.isInteger(id)) return `id ${JSON.stringify(id)}`;
  const names = Object.keys(rest);
  if (names.length !== 1) return `members ${names.join(', ')}`;
  if ('result' in rest) return status === null || status === 200 ? null : `a result with status ${status}`;
  const { code, message, data } = rest['error'] as { code: number; message: unknown; data?: ErrorData };
  if (typeof message !== 'string' || message === '') return 'no message';
  if (data === undefined || typeof data.retryable !== 'boolean') return 'no data.retryable';
  if (code > 0) return data.type in BUSINESS_ERRORS ? null : `business type ${data.type}`;
  const row = PROXY_ERRORS[data.type as keyof typeof PROXY_ERRORS];
  if (row === undefined || row.code !== code) return `code ${code} with type ${data.type}`;
  if (data.type === 'internal') return 'internal error';
  return status === null || status === row.httpStatus ? null : `${data.type} with status ${status}`;
}
