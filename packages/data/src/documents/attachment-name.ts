/**
 * Evaluates the expression by which a report names the file that Odoo keeps: `'INV_' + object.name + '.pdf'`. It is
 * Python; this part of it covers the forms in Odoo's documentation. Pure.
 */

/** Values of fields of the record. */
export type FieldValues = Readonly<Record<string, unknown>>;

const TOKEN = /\s*(?:('(?:[^'\\]|\\['\\])*'|"(?:[^"\\]|\\["\\])*")|([A-Za-z_]\w*)|(==|!=|[()[\].,+%]))/y;

/** The fields of the record in the expression; null if it has another form than those that are known. */
export function listNamedFields(expression: string): string[] | null {
  const fields = new Set<string>();
  const record = new Proxy({}, { get: (_, name) => fields.add(String(name)) && '' });
  // Each branch is parsed, whichever value it has.
  return evaluate(expression, record) === undefined ? null : [...fields];
}

/** The name of the file; null if Odoo keeps none for the record, or the expression has another form. */
export function nameAttachment(expression: string, record: FieldValues): string | null {
  const name = evaluate(expression, record);
  return typeof name === 'string' && name !== '' ? name : null;
}

const LENGTH_MAX = 1000;

/** Thrown for what the evaluator does not know. */
class UnknownForm extends Error {
  override readonly name = 'UnknownForm';
}

type Value = string | boolean | readonly Value[];

function evaluate(expression: string, record: FieldValues): Value | undefined {
  try {
    const parser = new Parser(readTokens(expression), record);
    return parser.readAll();
  } catch (error) {
    if (error instanceof UnknownForm) return undefined;
    throw error;
  }
}

function readTokens(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trim();
  if (text.length > LENGTH_MAX) throw new UnknownForm();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [, quoted, name, sign] = TOKEN.exec(text) ?? [];
    const token = quoted ?? name ?? sign;
    if (token === undefined) throw new UnknownForm();
    tokens.push(token);
  }
  return tokens;
}

/** Reads by descent, and evaluates as it reads. Operators have the order that they have in Python. */
class Parser {
  readonly #tokens: readonly string[];
  readonly #record: FieldValues;
  #at = 0;

  constructor(tokens: readonly string[], record: FieldValues) {
    this.#tokens = tokens;
    this.#record = record;
  }

  readAll(): Value {
    const value = this.#readOr();
    if (this.#at < this.#tokens.length) throw new UnknownForm();
    return value;
  }

  #readOr(): Value {
    let value = this.#readAnd();
    while (this.#take('or')) {
      const other = this.#readAnd();
      value = isTrue(value) ? value : other;
    }
    return value;
  }

  #readAnd(): Value {
    let value = this.#readComparison();
    while (this.#take('and')) {
      const other = this.#readComparison();
      value = isTrue(value) ? other : value;
    }
    return value;
  }

  #readComparison(): Value {
    const value = this.#readSum();
    if (this.#take('==')) return value === this.#readSum();
    if (this.#take('!=')) return value !== this.#readSum();
    if (!this.#take('in')) return value;
    const list = this.#readSum();
    if (typeof list === 'string' || typeof list === 'boolean') throw new UnknownForm();
    return list.includes(value);
  }

  #readSum(): Value {
    let value = this.#readFormat();
    while (this.#take('+')) value = toText(value) + toText(this.#readFormat());
    return value;
  }

  #readFormat(): Value {
    const value = this.#readCall();
    if (!this.#take('%')) return value;
    const given = this.#readCall();
    const values = typeof given === 'object' ? [...given] : [given];
    const parts = toText(value).split('%s');
    if (parts.length - 1 !== values.length || parts.some((part) => part.includes('%')))
      throw new UnknownForm();
    return parts.map((part, index) => part + (index < values.length ? toText(values[index]!) : '')).join('');
  }

  #readCall(): Value {
    let value = this.#readOperand();
    while (this.#take('.')) {
      this.#need('replace');
      this.#need('(');
      const from = toText(this.#readOr());
      this.#need(',');
      const to = toText(this.#readOr());
      this.#need(')');
      value = toText(value).replaceAll(from, () => to);
    }
    return value;
  }

  #readOperand(): Value {
    const token = this.#tokens[this.#at++];
    if (token === '(' || token === '[') return this.#readList(token);
    if (token === 'object') {
      this.#need('.');
      const field = this.#tokens[this.#at++] ?? '';
      const value = this.#record[field];
      if (typeof value === 'string' || value === false) return value;
      throw new UnknownForm();
    }
    if (token === undefined || !/^['"]/.test(token)) throw new UnknownForm();
    return token.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  }

  /** A value in parentheses, a tuple or a list. */
  #readList(open: string): Value {
    const close = open === '(' ? ')' : ']';
    const values = [this.#readOr()];
    let hasComma = false;
    while (this.#take(',')) {
      hasComma = true;
      if (this.#tokens[this.#at] !== close) values.push(this.#readOr());
    }
    this.#need(close);
    return open === '(' && !hasComma ? values[0]! : values;
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #need(token: string): void {
    if (!this.#take(token)) throw new UnknownForm();
  }
}

function isTrue(value: Value): boolean {
  return typeof value === 'boolean' ? value : value.length > 0;
}

/** In Python, texts are only joined with texts. */
function toText(value: Value): string {
  if (typeof value === 'string') return value;
  throw new UnknownForm();
}
