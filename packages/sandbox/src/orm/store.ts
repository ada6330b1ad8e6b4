/**
 * The rows of the database, with transactions. Rows are never changed in place, and every put records the row that it
 * replaces, so a rollback puts the old rows back. Knows nothing of fields.
 */
import type { Row } from './row.ts';

export class Store {
  #tables = new Map<string, Map<number, Row>>();
  #lastIds = new Map<string, number>();
  #undo: (() => void)[] = [];

  table(model: string): ReadonlyMap<number, Row> {
    return this.#writable(model);
  }

  get(model: string, id: number): Row | undefined {
    return this.#tables.get(model)?.get(id);
  }

  put(model: string, id: number, row: Row | undefined): void {
    const table = this.#writable(model);
    const before = table.get(id);
    this.#undo.push(() => (before ? table.set(id, before) : table.delete(id)));
    if (row) table.set(id, row);
    else table.delete(id);
    if (id > (this.#lastIds.get(model) ?? 0)) this.#lastIds.set(model, id);
  }

  /** Like a PostgreSQL sequence: a rollback does not return the number. */
  nextId(model: string): number {
    const id = (this.#lastIds.get(model) ?? 0) + 1;
    this.#lastIds.set(model, id);
    return id;
  }

  transact<T>(work: () => T): T {
    this.#undo = [];
    return this.savepoint(work);
  }

  /** If the work throws, undoes what it did, and nothing before it. */
  savepoint<T>(work: () => T): T {
    const mark = this.#undo.length;
    try {
      return work();
    } catch (error) {
      for (const step of this.#undo.splice(mark).reverse()) step();
      throw error;
    }
  }

  copy(): Store {
    const copy = new Store();
    copy.#tables = new Map([...this.#tables].map(([name, table]) => [name, new Map(table)]));
    copy.#lastIds = new Map(this.#lastIds);
    return copy;
  }

  #writable(model: string): Map<number, Row> {
    let table = this.#tables.get(model);
    if (!table) {
      table = new Map();
      this.#tables.set(model, table);
    }
    return table;
  }
}
