/**
 * Decides whether a policy must name a method literally because the method exposes more than the name of its model
 * says. The list is sensitive-table.ts.
 */
import { isReadOnlyMethod } from '../methods.ts';
import { SENSITIVE_RULES, SENSITIVE_TABLE } from './sensitive-table.ts';

/** The reason why a policy must name the method, worded as the end of a sentence; null if it need not. */
export function findSensitivity(model: string, method: string): string | null {
  const rows = findRows(model);
  if (rows.length > 0) {
    const isReadOnly = isReadOnlyMethod(method, model);
    const row = rows.find(({ methods }) => (methods === null ? !isReadOnly : methods(method)));
    if (row !== undefined) return row.reason;
  }
  return findReasonOfMethod(method);
}

type Test = (text: string) => boolean;

interface CompiledRow {
  /** Null: all methods that are not known to be read-only. */
  methods: Test | null;
  reason: string;
}

const ANY = '*';

/** Rows with a model name or pattern, in the order of the table. The other rows apply to every model. */
const OF_MODELS = SENSITIVE_TABLE.filter(({ models }) => !models.includes(ANY)).map(
  ({ models, methods, rule }) => ({
    isOfModel: compile(models),
    row: {
      methods: methods === 'writes' ? null : compile(methods),
      reason: SENSITIVE_RULES[rule].reason,
    },
  }),
);

const OF_EVERY_MODEL = SENSITIVE_TABLE.filter(({ models }) => models.includes(ANY)).map(
  ({ methods, rule }) => ({
    isOfRow: compile(methods === 'writes' ? [ANY] : methods),
    reason: SENSITIVE_RULES[rule].reason,
  }),
);

/** A server has a few hundred models and methods, but callers can invent names, so the cache is bounded. */
const NAMES_MAX = 4096;
const NAME_LENGTH_MAX = 128;

const findRows = remember((model): readonly CompiledRow[] =>
  OF_MODELS.filter(({ isOfModel }) => isOfModel(model)).map(({ row }) => row),
);
const findReasonOfMethod = remember(
  (method): string | null => OF_EVERY_MODEL.find(({ isOfRow }) => isOfRow(method))?.reason ?? null,
);

function remember<Value>(find: (name: string) => Value): (name: string) => Value {
  const found = new Map<string, Value>();
  return (name) => {
    if (name.length > NAME_LENGTH_MAX) return find(name);
    const known = found.get(name);
    if (known !== undefined) return known;
    const value = find(name);
    if (found.size >= NAMES_MAX) found.clear();
    found.set(name, value);
    return value;
  };
}

/** Matches patterns of the table, which contain at most two `*`. */
function compile(patterns: readonly string[]): Test {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const sources = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => pattern.replaceAll('.', '\\.').replaceAll('*', '.*'));
  if (sources.length === 0) return (text) => exact.has(text);
  const globs = new RegExp(`^(?:${sources.join('|')})$`);
  return (text) => exact.has(text) || globs.test(text);
}
