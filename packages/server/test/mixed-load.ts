/**
 * Callers that mix all kinds of requests: single calls and batches, with and without a time limit and an idempotency
 * key (some keys are sent twice), reads that may share an answer, callers that disconnect, and callers that read
 * slowly.
 */
import { WORD_SHARES } from './mixed-odoo.ts';
import { pause, runLater } from './time.ts';

export interface MixedLoad {
  /** Base address of the proxy. */
  url: string;
  /** Client keys. */
  keys: readonly string[];
  /** The JSON text of `erp_instance` for each server. */
  instances: readonly string[];
  callers: number;
  /** Each caller sends requests until this returns true. */
  isOver: () => boolean;
  random: () => number;
}

export interface MixedOutcomes {
  requests: number;
  batches: number;
  calls: number;
  left: number;
  brokenOff: number;
  /** Number of answers by `ok`, `data.type` of the error, or a description of an invalid answer. */
  answers: Record<string, number>;
}

const BATCH_MAX = 6;
const LEAVE_MS_MAX = 1500;
const READ_DELAY_MS = 300;

export async function runMixedLoad(load: MixedLoad): Promise<MixedOutcomes> {
  const outcomes: MixedOutcomes = { requests: 0, batches: 0, calls: 0, left: 0, brokenOff: 0, answers: {} };
  const call = async () => {
    while (!load.isOver()) await sendOne(load, outcomes);
  };
  await Promise.all(Array.from({ length: load.callers }, call));
  return outcomes;
}

async function sendOne({ url, keys, instances, random }: MixedLoad, outcomes: MixedOutcomes): Promise<void> {
  const happens = (share: number) => random() < share;
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  const isBatch = happens(0.4);
  const instance = pick(instances);
  const size = isBatch ? 1 + Math.floor(random() * BATCH_MAX) : 1;
  const calls = Array.from({ length: size }, (_, id) =>
    printCall(id, pickWord(random()), instance, happens(0.8)),
  );
  const headers: Record<string, string> = { 'content-type': 'application/json', 'x-proxy-api': pick(keys) };
  if (happens(0.7)) headers['x-request-timeout'] = pick(['1', '1', '2', '3']);
  // Without this header, reads may share an answer.
  if (happens(0.6)) headers['cache-control'] = 'no-cache';
  if (happens(0.3)) headers['idempotency-key'] = `key-${Math.floor(random() * 1e9)}`;
  const leaving = new AbortController();
  if (happens(0.2)) runLater(random() * LEAVE_MS_MAX, () => leaving.abort());
  outcomes.requests++;
  outcomes.calls += size;
  if (isBatch) outcomes.batches++;
  const body = isBatch ? `[${calls.join()}]` : (calls[0] as string);
  const request = { method: 'POST', headers, body, signal: leaving.signal };
  const readAfterMs = happens(0.1) ? READ_DELAY_MS : 0;
  const sendings = 'idempotency-key' in headers && happens(0.3) ? 2 : 1;
  const send = () => takeAnswer(`${url}/api/erp/execute`, request, readAfterMs, outcomes);
  await Promise.all(Array.from({ length: sendings }, send));
}

async function takeAnswer(
  url: string,
  request: RequestInit & { signal: AbortSignal },
  readAfterMs: number,
  outcomes: MixedOutcomes,
): Promise<void> {
  try {
    const response = await fetch(url, request);
    if (readAfterMs > 0) await pause(readAfterMs);
    for (const answer of [JSON.parse(await response.text())].flat()) {
      const name = describeAnswer(answer);
      outcomes.answers[name] = (outcomes.answers[name] ?? 0) + 1;
    }
  } catch {
    if (request.signal.aborted) outcomes.left++;
    else outcomes.brokenOff++;
  }
}

function pickWord(share: number): string {
  let rest = share;
  for (const [word, size] of Object.entries(WORD_SHARES)) {
    rest -= size;
    if (rest < 0) return word;
  }
  return 'quick';
}

function printCall(id: number, word: string, instance: string, isRead: boolean): string {
  const name = `word-${word}`;
  const call = isRead
    ? { action: 'search', params: [[['name', '=', name]]] }
    : { action: 'create', params: [{ name }] };
  const members = JSON.stringify({ id, model_id: 'res.partner', ...call });
  return `${members.slice(0, -1)},"erp_instance":${instance}}`;
}

function describeAnswer(answer: { result?: unknown; error?: { data?: { type?: string } } }): string {
  if ('result' in answer) return 'ok';
  return answer.error?.data?.type ?? 'without a type';
}
