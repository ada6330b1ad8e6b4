/**
 * Calls of execute_kw that real servers answered, in order, and the comparison of their answers with the sandbox's. A
 * text that begins with `$` is a placeholder for a value that differs between servers: `$all` for the number of all
 * records, any other one for the value in the first answer that contains it.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Sandbox } from '../src/index.ts';
import { printJson } from '../src/json/print-json.ts';
import { readJson } from '../src/json/read-json.ts';
import { Float, isObject, type Json, type JsonObject } from '../src/json/value.ts';
import { findShapeDifference } from './same-shape.ts';

export interface RecordedCall {
  readonly name: string;
  readonly model: string;
  readonly method: string;
  readonly args: readonly Json[];
  readonly named?: JsonObject;
  readonly result?: Json;
  /** The class, and the first line of the message. */
  readonly error?: { readonly name: string; readonly message: string };
  /** The members of a record, each with a value of the recorded shape. */
  readonly members?: JsonObject;
  /** The status of the answer, if it is not 200. */
  readonly status?: number;
}

/** The values of the placeholders. One of them is for NaN, which JSON lacks. */
export type Bindings = Map<string, Json>;
export const createBindings = (): Bindings => new Map([['$NaN', new Float(Number.NaN)]]);

export function readCalls(version: number): RecordedCall[] {
  const file = new URL(`../recordings/${version}.0-real.jsonl`, import.meta.url);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => readJson(line) as unknown as RecordedCall);
}

/** Makes the call, and describes the first difference from the recorded answer; undefined if there is none. */
export async function compareCall(
  sandbox: Sandbox,
  call: RecordedCall,
  bindings: Bindings,
): Promise<string | undefined> {
  const { status, body } = await execute(sandbox, call, bindings);
  if (status !== (call.status ?? 200)) return `status ${status}, recorded ${call.status ?? 200}`;
  if (status !== 200) return undefined;
  const { result, error } = readJson(body) as JsonObject;
  if (isObject(error)) {
    const { name, message } = error['data'] as JsonObject;
    const [found, wanted] = [`${name}: ${firstLine(String(message))}`, describeError(call)];
    return found === wanted ? undefined : `${found}, recorded ${wanted}`;
  }
  if (call.error) return `result ${printJson(result ?? null)}, recorded ${describeError(call)}`;
  if (call.members) return findForeignMember(call.members, (result as readonly JsonObject[])[0] ?? {});
  const { body: all } = await execute(sandbox, { ...call, method: 'search_count', args: [[]] }, bindings);
  const [found, wanted] = [result ?? null, call.result ?? null];
  bindings.set('$all', (readJson(all) as JsonObject)['result'] ?? null);
  return isSame(found, wanted, bindings)
    ? undefined
    : `result ${printJson(found)}, recorded ${printJson(wanted)}`;
}

async function execute(sandbox: Sandbox, call: RecordedCall, bindings: Bindings) {
  const { admin } = sandbox.users;
  const args = [call.model, call.method, replace(call.args, bindings), replace(call.named ?? {}, bindings)];
  const params = {
    service: 'object',
    method: 'execute_kw',
    args: [sandbox.db, admin.userId, admin.apiKey, ...args],
  };
  const response = await fetch(`${sandbox.url}/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // Lone surrogates are escaped, as in the recorded requests.
    body: printJson({ jsonrpc: '2.0', id: 1, params } as unknown as Json).replace(
      /\p{Surrogate}/gu,
      (half) => `\\u${half.charCodeAt(0).toString(16)}`,
    ),
  });
  return { status: response.status, body: await response.text() };
}

function describeError({ error, result, members }: RecordedCall): string {
  return error ? `${error.name}: ${error.message}` : `result ${printJson(members ?? result ?? null)}`;
}

function firstLine(message: string): string {
  return message.split('\nLINE')[0]!.trimEnd();
}

/** Describes a member that the recorded record does not have, or has with another shape. */
function findForeignMember(recorded: JsonObject, ours: JsonObject): string | undefined {
  for (const [name, value] of Object.entries(ours)) {
    // A field that a customer added.
    if (name.startsWith('x_')) continue;
    if (!(name in recorded)) return `${name} is not in the recorded record`;
    const difference = findShapeDifference(recorded[name] as Json, value, name);
    if (difference) return difference;
  }
  return undefined;
}

function replace(value: Json, bindings: Bindings): Json {
  if (typeof value === 'string') return bindings.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => replace(item, bindings));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replace(member, bindings)]));
}

function isSame(found: Json, wanted: Json, bindings: Bindings): boolean {
  if (typeof wanted === 'string' && wanted.startsWith('$')) {
    const known = bindings.get(wanted);
    if (known === undefined) bindings.set(wanted, found);
    return known === undefined || printJson(known) === printJson(found);
  }
  if (Array.isArray(wanted) && Array.isArray(found))
    return (
      wanted.length === found.length && wanted.every((item, index) => isSame(found[index], item, bindings))
    );
  if (isObject(wanted) && isObject(found))
    return (
      Object.keys(wanted).join() === Object.keys(found).join() &&
      Object.entries(wanted).every(([name, value]) => isSame(found[name] as Json, value, bindings))
    );
  return printJson(found) === printJson(wanted);
}
