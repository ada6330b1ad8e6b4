/**
 * Which methods `*` stands for in `models` of a policy: those that are known to act on records of their own model.
 * Independent of policies. The data are known-methods-data.ts.
 */
import { KNOWN_METHODS } from './known-methods-data.ts';

/** By name of a reason in the data: why a method is left out, worded as the end of a sentence. */
const REASONS = {
  unknown: 'is not known to keep to records of its model',
  model: 'can reach a model that the call or the record names',
  method: 'can run a method that the call or the record names',
  code: 'can run code or an action that the call or the record names',
  sql: 'makes a part of a statement of SQL from the call',
  render: 'can render a template that the call or the record names',
  ref: 'can reach a record whose external id the call or the record names',
  credential: 'returns tokens, keys, or links that open a record or a service',
  guarded: 'changes users, rights, companies, bank accounts, mail aliases or settings',
  values_elsewhere: 'writes fields that the call names in another model',
  fields_elsewhere: 'reads fields that the call names in another model',
  domain_elsewhere: 'searches in another model by a domain of the call',
  sender: 'can send in the name of somebody that the call names',
  records_elsewhere: 'changes records of another model that the call selects',
  read_elsewhere: 'returns values of records of other models',
  domain: 'searches, sorts or groups by fields that the call names',
  path: 'follows a path of fields that the call or the record names',
  context: 'sets members of the context that the call names',
  sudo: 'uses values of the call with all rights',
  passed_on: 'passes values of the call or the record to methods that reach more than its records',
  review: 'is not for calls, or reaches more than records of its model',
} as const;

type MethodClass = keyof typeof REASONS | 'known';

/** The model that every other one inherits. Its line has the methods of mixins too. */
const EVERY_MODEL = 'base';

/** Why `*` does not stand for the method, worded as the end of a sentence; null: it does. */
export function findUnknown(model: string, method: string): string | null {
  const found = readModel(model)?.get(method) ?? readModel(EVERY_MODEL)?.get(method) ?? 'unknown';
  return found === 'known' ? null : REASONS[found];
}

/**
 * The methods that the tables have for the model, each with the reason why it is left out; null: the method is known.
 */
export function listMethods(model: string): Map<string, string | null> {
  const methods = [...(readModel(EVERY_MODEL) ?? []), ...(readModel(model) ?? [])];
  return new Map(methods.map(([method, found]) => [method, found === 'known' ? null : REASONS[found]]));
}

/** The models of the tables. */
export function listModels(): string[] {
  lines ??= readLines();
  return [...lines.keys()];
}

/** The lines of the data by model, and the parsed lines. The size of the data bounds both. */
let lines: Map<string, string> | null = null;
const read = new Map<string, ReadonlyMap<string, MethodClass>>();

/** The methods on the model's own line; undefined: the model has no line. */
function readModel(model: string): ReadonlyMap<string, MethodClass> | undefined {
  const known = read.get(model);
  if (known !== undefined) return known;
  lines ??= readLines();
  const line = lines.get(model);
  if (line === undefined) return undefined;
  const methods = readLine(line);
  read.set(model, methods);
  return methods;
}

function readLines(): Map<string, string> {
  const all = KNOWN_METHODS.trim().split('\n');
  return new Map(
    all.map((line) => {
      const end = line.indexOf(' ');
      return [line.slice(0, end), line.slice(end + 1)];
    }),
  );
}

function readLine(line: string): Map<string, MethodClass> {
  const methods = new Map<string, MethodClass>();
  let found: MethodClass = 'known';
  for (const word of line.split(' ')) {
    if (word.startsWith('-')) found = word.slice(1) as MethodClass;
    else methods.set(word, found);
  }
  return methods;
}
