/**
 * Compares a page of /doc-bearer with the recorded page, which is often truncated: each field and method that is
 * complete in both must be equal. Odoo's prose (`doc`, `raise`, and types that only a docstring names) is not
 * simulated.
 */
import { expect } from 'vitest';
import { isObject, type Json, type JsonObject } from '../src/json/value.ts';
import { findShapeDifference } from './same-shape.ts';

export function expectSamePage(ours: string, recorded: string): void {
  if (recorded.startsWith('{"modules"')) {
    expect(ours).toMatch(/^\{"modules": \["base", "[^\]]*"\], "models": \[\{"model": "/);
    const wanted = readObject(recorded, recorded.indexOf('{"model"'));
    const found = readObject(ours, ours.indexOf('{"model"'));
    if (wanted) expect(listMembers(found)).toEqual(listMembers(wanted));
    return;
  }
  expect(ours.slice(0, 80)).toBe(recorded.slice(0, 80));
  const [foundFields, wantedFields] = [collect(ours, fieldStart), collect(recorded, fieldStart)];
  const fields = [...wantedFields.keys()].filter((name) => foundFields.has(name));
  expect(fields.length).toBeGreaterThan(0);
  for (const name of fields)
    expect(findShapeDifference(wantedFields.get(name)!, foundFields.get(name)!, name)).toBeUndefined();
  const [foundMethods, wantedMethods] = [collect(ours, methodStart), collect(recorded, methodStart)];
  const methods = [...foundMethods.keys()].filter((name) => wantedMethods.has(name));
  const describe = (page: Map<string, JsonObject>) =>
    methods.map((name) => [name, describeMethod(page.get(name)!)]);
  expect(describe(foundMethods)).toEqual(describe(wantedMethods));
  const isWhole = !recorded.includes('[cut by recorder]');
  if (isWhole) expect(methods).toEqual([...foundMethods.keys()]);
}

const fieldStart = /"(\w+)": (?=\{"(?:aggregator|allow_hierachy_operators|change_default)":)/g;
const methodStart = /"(\w+)": (?=\{"signature":)/g;

function collect(page: string, start: RegExp): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const match of page.matchAll(start)) {
    const value = readObject(page, match.index + match[0].length);
    if (value) found.set(match[1] ?? '', value);
  }
  return found;
}

/** The object that begins here; undefined if the recorder truncated it. */
function readObject(page: string, start: number): JsonObject | undefined {
  for (let end = page.indexOf('}', start); end > 0; end = page.indexOf('}', end + 1)) {
    try {
      return JSON.parse(page.slice(start, end + 1)) as JsonObject;
    } catch {
      // The brace was inside the object.
    }
    if (end - start > 20_000) return undefined;
  }
  return undefined;
}

function describeMethod(method: JsonObject): unknown {
  const { parameters = {}, ...rest } = method;
  const shown = Object.entries(parameters as JsonObject).map(([name, parameter]) => [
    name,
    Object.entries(parameter as JsonObject).filter(([member]) => !prose.has(member)),
  ]);
  const members = Object.entries(rest)
    .filter(([member]) => !prose.has(member))
    .map(([member, value]) => [member, isObject(value) ? value['annotation'] : value])
    .filter(([, value]) => value !== undefined);
  return { parameters: shown, members };
}

const prose = new Set(['doc', 'raise', 'annotations']);

/** The names of a model's members in the index, in their order, and of the members of one of its fields. */
function listMembers(model: JsonObject | undefined): Json {
  const { fields = {}, methods = [], ...rest } = model ?? {};
  const [field] = Object.values(fields as JsonObject);
  return [Object.keys(rest), Object.keys(field as JsonObject), typeof (methods as Json[])[0]];
}
