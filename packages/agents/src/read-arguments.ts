/**
 * Reads the arguments of a tool. Accepts the wrong forms that models often send: a list as JSON text, one value for a
 * list of one, digits for a number, and a number beyond the maximum, which stands for the maximum. Any other form gets
 * an error that says what to send.
 */

import { isObject, readDocument } from '@erp-proxy/json';
import { findNearestName } from '@erp-proxy/text';
import { z } from 'zod';
import { DEPTH_MAX } from './read-body.ts';
import type { Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';

const ISSUES_MAX = 3;
/** Maximum length of a list or object that is given as JSON text. */
const JSON_LENGTH_MAX = 64 * 1024;
/** Maximum length of a list that is given as comma-separated words. */
const WORDS_LENGTH_MAX = 10_000;

export function readArguments(tool: Tool, given: unknown): unknown {
  const accepted = isObject(given) ? accept(tool.input, given) : (given ?? {});
  const parsed = tool.input.safeParse(accepted);
  if (parsed.success) return parsed.data;
  const known = Object.keys(tool.input.shape);
  const texts = parsed.error.issues.slice(0, ISSUES_MAX).map((issue) => explain(issue, known));
  throw new ToolError('invalid_params', texts.join(' '), {
    next: `Send arguments such as ${tool.example}.`,
  });
}

function explain(issue: z.core.$ZodIssue, known: readonly string[]): string {
  if (issue.code === 'unrecognized_keys') {
    const [name = ''] = issue.keys;
    return `There is no argument "${name}"; did you mean "${findNearestName(name, known)}"?`;
  }
  const path = issue.path.map(String).join('.');
  const reason = issue.message.replace(/^Invalid input: /, '').replace('received undefined', 'it is missing');
  return path === '' ? `The arguments: ${reason}.` : `\`${path}\`: ${reason}.`;
}

function accept(input: z.ZodObject, given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given)
      // Some clients send null for omitted arguments.
      .filter(([name, value]) => value !== null || !Object.hasOwn(input.shape, name))
      .map(([name, value]) => [name, acceptArgument(input.shape[name], value)]),
  );
}

function acceptArgument(schema: unknown, value: unknown): unknown {
  let type = schema;
  while (type instanceof z.ZodOptional) type = type.unwrap();
  // The only unions of the schemas are of an object and a list of objects.
  if (type instanceof z.ZodUnion) return acceptValue(isListText(value) ? 'list' : 'object', value);
  if (type instanceof z.ZodArray) return acceptItems(type.element, acceptValue('list', value));
  if (type instanceof z.ZodRecord) return acceptValue('object', value);
  return type instanceof z.ZodNumber ? acceptNumber(type, value) : value;
}

function acceptNumber(type: z.ZodNumber, given: unknown): unknown {
  const value = typeof given === 'string' ? readWord(given) : given;
  if (typeof value !== 'number') return given;
  const max = type.maxValue ?? Number.MAX_SAFE_INTEGER;
  // MAX_SAFE_INTEGER is the bound of every integer. An id beyond it must not be changed to that of another record.
  return max === Number.MAX_SAFE_INTEGER ? value : Math.min(value, max);
}

function acceptItems(element: unknown, list: unknown): unknown {
  return element instanceof z.ZodNumber && Array.isArray(list)
    ? list.map((item) => acceptNumber(element, item))
    : list;
}

function isListText(value: unknown): boolean {
  return typeof value === 'string' && value.trimStart().startsWith('[');
}

function acceptValue(kind: 'list' | 'object', value: unknown): unknown {
  if (typeof value === 'string') {
    const text = value.trim();
    if (text.startsWith(kind === 'list' ? '[' : '{')) return readJson(text) ?? value;
    const isWords = kind === 'list' && text !== '' && text.length <= WORDS_LENGTH_MAX;
    return isWords ? text.split(',').map(readWord) : value;
  }
  return kind === 'list' && typeof value === 'number' ? [value] : value;
}

function readWord(part: string): string | number {
  const word = part.trim();
  return /^\d{1,15}$/.test(word) ? Number(word) : word;
}

/** Undefined for a text that is not JSON, or is nested too deeply. */
function readJson(text: string): unknown {
  if (text.length > JSON_LENGTH_MAX)
    throw new ToolError('invalid_params', `JSON as text may have ${JSON_LENGTH_MAX} characters.`, {
      next: 'Send the list or object itself, not as text.',
    });
  try {
    readDocument(Buffer.from(text), DEPTH_MAX);
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
