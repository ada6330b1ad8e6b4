/**
 * The parameters of a method, as in Python's `inspect.Signature` but without the record (`self`). Independent of
 * methods.
 */

/**
 * How an argument can be passed, as in Python's `inspect.Parameter.kind`. `positional` parameters can be named as well.
 */
export type ParameterKind =
  | 'positional_only'
  | 'positional'
  | 'var_positional'
  | 'keyword_only'
  | 'var_keyword';

export interface Parameter {
  name: string;
  kind: ParameterKind;
  /** False if the parameter has a default, and for `*args` and `**kwargs`. */
  isRequired: boolean;
}

export interface Signature {
  /**
   * `ids`: a method of records, whose ids are the first positional argument of `execute_kw`; `model`: it takes no ids
   * (docs/odoo-facts.md#execute-kw-arguments).
   */
  kind: 'ids' | 'model';
  /** The parameters in the order of the Python signature. */
  parameters: readonly Parameter[];
  /** True if Odoo refuses every remote call of the method, before it looks at the arguments. */
  isPrivate: boolean;
}

/**
 * Parses the notation of signatures.ts: `[private ]ids (a, b=, *args, c=, **kwargs)`, with Python's `/` and `*`. `=`
 * marks a default; its value is not needed.
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
