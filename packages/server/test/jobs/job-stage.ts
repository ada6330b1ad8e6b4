/** Asks for jobs and follows them, over HTTP. Test support. */
import type { Job } from '@erp-proxy/contract';
import type { JobTimes } from '@erp-proxy/data/jobs';
import { expect } from 'vitest';
import { type Proxy as ErpProxy, type HttpAnswer, send } from '../harness.ts';

/** A worker that looks often, as a busy machine allows. */
export const QUICK_TIMES: JobTimes = { leaseMs: 30_000, lookMs: 50, pruneMs: 50 };

/** Seals the secrets of subscriptions. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

export const RESPOND_ASYNC = { prefer: 'respond-async' };

export type Client = Pick<ErpProxy, 'url' | 'key'>;

export interface JobAnswer extends HttpAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: a job, or the answer of a call
  json: any;
}

export async function request(
  { url, key }: Client,
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<JobAnswer> {
  const { headers = {}, body } = options;
  const answer = await send(url + path, {
    method,
    headers: {
      'x-proxy-api': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  let json: unknown = null;
  try {
    json = JSON.parse(answer.body.toString());
  } catch {}
  return { ...answer, json };
}

/** Asks for a job. The answer must be 202. Returns the path of the job. */
export async function startJob(
  client: Client,
  body: unknown,
  { route = 'execute', headers = {} }: { route?: string; headers?: Record<string, string> } = {},
): Promise<string> {
  const answer = await request(client, 'POST', `/api/erp/${route}`, {
    headers: { ...RESPOND_ASYNC, ...headers },
    body,
  });
  expect([answer.status, answer.json?.error]).toEqual([202, undefined]);
  return answer.headers.location as string;
}

export async function readJob(client: Client, path: string): Promise<Job> {
  const { status, json } = await request(client, 'GET', path);
  expect(status).toBe(200);
  return json;
}

/** Waits until the job has ended. */
export async function waitForEnd(client: Client, path: string): Promise<Job> {
  await expect.poll(async () => (await readJob(client, path)).ended_at).not.toBeNull();
  return await readJob(client, path);
}

export async function readResult(client: Client, path: string): Promise<JobAnswer> {
  return await request(client, 'GET', `${path}/result`);
}
