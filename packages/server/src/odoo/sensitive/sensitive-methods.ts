/**
 * Whether a policy must name a method in so many words, because it gives away more than the model's name says. The list is
 * sensitive-table.ts.
 */
import { isReadOnlyMethod } from '../methods.ts';
import { SENSITIVE_RULES, SENSITIVE_TABLE } from './sensitive-table.ts';

/** The reason why a policy must name the method, as the end of a sentence about it; null for any other method. */
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
  /** Null: all that are not known to only read. */
  methods: Test | null;
  reason: string;
}

const ANY = '*';

/** Rows of models by name or pattern, in the order of the table; the others are of every model. */
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

/** A server has some hundreds of models and methods, and callers can make names up: what is kept is bounded. */
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

/** Patterns of the table: none has more than two `*`. */
function compile(patterns: readonly string[]): Test {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const sources = patterns
    .filter((pattern) => pattern.includes('*'))
    .map((pattern) => pattern.replaceAll('.', '\\.').replaceAll('*', '.*'));
  if (sources.length === 0) return (text) => exact.has(text);
  const globs = new RegExp(`^(?:${sources.join('|')})$`);
  return (text) => exact.has(text) || globs.test(text);
}
