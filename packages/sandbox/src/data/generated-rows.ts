/**
 * Rows of a large table that are computed when they are read, so that a million of them need no memory. They look as if
 * they had been imported before the other data of the sandbox, in transactions of 50 rows. The rows of a transaction
 * have the same `write_date`, which grows with the id.
 */
import type { Json } from '../json/value.ts';
import { printInstant } from '../orm/environment.ts';
import { isStored, isToMany } from '../orm/field.ts';
import type { Model } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import type { Range, RowSource } from '../orm/row-source.ts';

const rowsPerTransaction = 50;
const intervalMs = 20_000;

export class GeneratedRows implements RowSource {
  readonly lastId: number;
  readonly #firstId: number;
  readonly #endMs: number;
  /** The values that all rows have. */
  readonly #constants: Row;
  readonly #texts: readonly (readonly [string, (id: number) => string])[];
  readonly #isLogged: boolean;
  #time: readonly [transaction: number, text: string] = [-1, ''];

  /** `endMs`: time after the last transaction, in milliseconds since 1970. */
  constructor(model: Model, firstId: number, count: number, endMs: number) {
    this.#firstId = firstId;
    this.lastId = firstId + count - 1;
    this.#endMs = endMs;
    this.#isLogged = model.logAccess !== false;
    this.#constants = listConstants(model);
    this.#texts = listTexts(model, this.#constants);
  }

  get(id: number): Row | undefined {
    if (!Number.isInteger(id) || id < this.#firstId || id > this.lastId) return undefined;
    const row: Record<string, Json> = { ...this.#constants, id };
    if (this.#isLogged) {
      row['create_uid'] = 1;
      row['create_date'] = this.#timeOf(id);
      row['write_uid'] = 1;
      row['write_date'] = this.#timeOf(id);
    }
    for (const [name, print] of this.#texts) row[name] = print(id);
    return row;
  }

  *scan(range: Range, isDescending = false): Generator<Row> {
    const [first, last] = this.#findIds(range);
    const step = isDescending ? -1 : 1;
    for (let id = isDescending ? last : first; id >= first && id <= last; id += step)
      yield this.get(id) as Row;
  }

  estimate(range: Range): number {
    const [first, last] = this.#findIds(range);
    return Math.max(0, last - first + 1);
  }

  where(column: string, value: Json): Row[] {
    const text = this.#texts.find(([name]) => name === column);
    if (!text) return this.#constants[column] === value ? [...this.scan(wholeRange)] : [];
    const row = this.get(Number(/\d+/.exec(String(value))?.[0]));
    return row && row[column] === value ? [row] : [];
  }

  #findIds(range: Range): readonly [number, number] {
    if (range.index === 'id') return [Math.max(this.#firstId, range.min), Math.min(this.lastId, range.max)];
    if (!this.#isLogged) return range.max === '\uffff' ? [this.#firstId, this.lastId] : [1, 0];
    return [this.#findFirst((time) => time >= range.min), this.#findFirst((time) => time > range.max) - 1];
  }

  /** The first id whose time passes a test that all later times pass too. */
  #findFirst(passes: (time: string) => boolean): number {
    let [low, high] = [this.#firstId, this.lastId + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (passes(this.#timeOf(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #timeOf(id: number): string {
    const transaction = Math.floor((this.lastId - id) / rowsPerTransaction);
    if (this.#time[0] !== transaction) {
      // Fractions of a second, as in a database.
      const ms = this.#endMs - (transaction + 1) * intervalMs + 123.456;
      this.#time = [transaction, printInstant(ms)];
    }
    return this.#time[1];
  }
}

const wholeRange: Range = { index: 'id', min: 0, max: Number.MAX_SAFE_INTEGER };

function listConstants(model: Model): Row {
  const constants: Record<string, Json> = {};
  for (const field of model.fields.values()) {
    const { default: value } = field;
    if (value !== undefined && typeof value !== 'function') constants[field.name] = value;
  }
  return constants;
}

/** The name, the address and the reference of each row, and the texts that the model requires. */
function listTexts(model: Model, constants: Row): readonly (readonly [string, (id: number) => string])[] {
  const texts: [string, (id: number) => string][] = [];
  for (const field of model.fields.values()) {
    if (!isStored(field) || isToMany(field) || field.name in constants) continue;
    const isText = field.type === 'char' || field.type === 'text';
    if (isText && field.name === 'email') texts.push([field.name, (id) => `generated${id}@example.com`]);
    else if (isText && field.name === 'ref') texts.push([field.name, (id) => `G${id}`]);
    else if (isText && (field.required || field.name === (model.recName ?? 'name')))
      texts.push([field.name, (id) => `Generated ${id}`]);
    else if (field.required)
      throw new Error(`Rows of ${model.name} cannot be generated: ${field.name} is required.`);
  }
  return texts;
}
