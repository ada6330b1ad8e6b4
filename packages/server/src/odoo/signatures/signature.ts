/**
 * The shape in which this folder knows a method's parameters: those of Python's `inspect.Signature`, without the record
 * (`self`). Knows no method by name.
 */

/** Where an argument can stand, as in Python's `inspect.Parameter.kind`; `positional` ones take a name as well. */
export type ParameterKind =
  | 'positional_only'
  | 'positional'
  | 'var_positional'
  | 'keyword_only'
  | 'var_keyword';

export interface Parameter {
  name: string;
  kind: ParameterKind;
  /** False where it has a default, and for `*args` and `**kwargs`. */
  isRequired: boolean;
}

export interface Signature {
  /**
   * `ids`: of records, whose ids are the first positional argument of `execute_kw`; `model`: takes none
   * (docs/odoo-facts.md#execute-kw-arguments).
   */
  kind: 'ids' | 'model';
  /** In Python's order. */
  parameters: readonly Parameter[];
  /** True where Odoo lets nobody call it from outside: it says so before it looks at the arguments. */
  isPrivate: boolean;
}

/**
 * Reads the notation of signatures.ts: `[private ]ids (a, b=, *args, c=, **kwargs)`, with Python's `/` and `*`; `=` marks
 * a default, whose value is of no interest.
 */
export function parseSignature(text: string): Signature {
  const [, hidden, kind, list] = /^(private )?(ids|model) \((.*)\)$/.exec(text) ?? [];
  if (list === undefined) throw new Error(`Not a signature: ${text}`);
  const words = list === '' ? [] : list.split(', ');
  const slash = words.indexOf('/');
  const star = words.findIndex((word) => word === '*' || /^\*[^*]/.test(word));
  const parameters = words.flatMap((word, at): Parameter[] => {
    if (word === '/' || word === '*') return [];
    const [, stars, name, mark] = /^(\*{0,2})(\w+)(=?)$/.exec(word) ?? [];
    if (name === undefined) throw new Error(`Not a parameter: ${word}`);
    if (stars === '*') return [{ name, kind: 'var_positional', isRequired: false }];
    if (stars === '**') return [{ name, kind: 'var_keyword', isRequired: false }];
    const isAfterStar = star !== -1 && at > star;
    const place = isAfterStar ? 'keyword_only' : at < slash ? 'positional_only' : 'positional';
    return [{ name, kind: place, isRequired: mark === '' }];
  });
  return { kind: kind === 'model' ? 'model' : 'ids', parameters, isPrivate: hidden !== undefined };
}
