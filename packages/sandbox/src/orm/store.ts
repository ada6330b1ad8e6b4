/**
 * The rows of the database, in layers: a store reads the rows of the store that it branched from, and keeps only its
 * own changes. Rows are never changed in place. A call runs with `transact`, which undoes its changes if it fails.
 * `begin` opens a transaction whose changes are invisible to others until it commits. Independent of the fields of
 * models.
 */
import { Fault } from './fault.ts';
import type { Row } from './row.ts';
import type { RowSource } from './row-source.ts';
import { type Entry, Table } from './table.ts';

/** Counts what queries cost. */
export interface Reads {
  /** Rows that a query examined, or read by id. */
  rows: number;
  /** Queries that an index limited. */
  byIndex: number;
  /** Queries that examined the whole table. */
  byScan: number;
}

export class Store {
  readonly reads: Reads;
  readonly #below: Store | undefined;
  readonly #tables = new Map<string, Table>();
  readonly #lastIds = new Map<string, number>();
  readonly #open = new Set<Transaction>();
  #undo: (() => void)[] = [];
  #changed: string[] = [];

  constructor(below?: Store, reads: Reads = { rows: 0, byIndex: 0, byScan: 0 }) {
    this.#below = below;
    this.reads = reads;
    if (below) this.#lastIds = new Map(below.#lastIds);
  }

  table(model: string): RowSource {
    return this.layer(model);
  }

  get(model: string, id: number): Row | undefined {
    return this.layer(model).get(id);
  }

  /** undefined deletes the row. Throws a fault if an open transaction has changed it. */
  put(model: string, id: number, row: Row | undefined): void {
    for (const transaction of this.#open) if (transaction.holds(model, id)) throw concurrentUpdate();
    const table = this.layer(model);
    const before = table.entry(id);
    this.#undo.push(() => table.setEntry(id, before));
    this.#changed.push(nameRow(model, id));
    table.put(id, row);
    this.raiseLastId(model, id);
  }

  /** Like a PostgreSQL sequence: a rollback does not return the number. */
  nextId(model: string): number {
    const id = (this.#lastIds.get(model) ?? 0) + 1;
    this.#lastIds.set(model, id);
    return id;
  }

  raiseLastId(model: string, id: number): void {
    if (id > (this.#lastIds.get(model) ?? 0)) this.#lastIds.set(model, id);
  }

  /** Puts read-only rows under the rows of the model. Their ids follow the last id. */
  putBelow(model: string, create: (firstId: number) => RowSource & { readonly lastId: number }): void {
    const source = create(this.nextId(model));
    const table = new Table(source);
    for (const [id, row] of this.layer(model).entries()) table.put(id, row ?? undefined);
    this.#tables.set(model, table);
    this.raiseLastId(model, source.lastId);
  }

  transact<T>(work: () => T): T {
    this.#undo = [];
    this.#changed = [];
    const result = this.savepoint(work);
    for (const transaction of this.#open) for (const row of this.#changed) transaction.outdate(row);
    return result;
  }

  /** Runs the work. If it throws, undoes what it did, and nothing before it. */
  savepoint<T>(work: () => T): T {
    const mark = this.#undo.length;
    try {
      return work();
    } catch (error) {
      for (const step of this.#undo.splice(mark).reverse()) step();
      throw error;
    }
  }

  /** A store with the same rows, whose changes do not affect this store. This store may not be changed any more. */
  branch(reads?: Reads): Store {
    return new Store(this, reads);
  }

  begin(): Transaction {
    const transaction = new Transaction(this, (ended) => this.#open.delete(ended));
    this.#open.add(transaction);
    return transaction;
  }

  rollbackAll(): void {
    for (const transaction of [...this.#open]) transaction.rollback();
  }

  /** Whether a transaction other than this one has changed the row. */
  isHeld(model: string, id: number, by: Transaction): boolean {
    return [...this.#open].some((transaction) => transaction !== by && transaction.holds(model, id));
  }

  /** All changes in this layer: model, id and entry. */
  protected changes(): [string, number, Entry][] {
    return [...this.#tables].flatMap(([model, table]) =>
      [...table.entries()].map(([id, row]): [string, number, Entry] => [model, id, row]),
    );
  }

  protected layer(model: string): Table {
    let table = this.#tables.get(model);
    if (!table) {
      table = new Table(this.#below?.layer(model));
      this.#tables.set(model, table);
    }
    return table;
  }
}

/**
 * Changes that only the transaction sees until it commits. Ids come from the sequences of the store, so that they
 * become visible out of order. As with PostgreSQL's repeatable read, a row that another transaction has changed since
 * this one began cannot be changed. PostgreSQL waits for the other transaction first; here the change fails at once.
 */
export class Transaction extends Store {
  readonly #base: Store;
  readonly #end: (transaction: Transaction) => void;
  readonly #outdated = new Set<string>();
  #isOpen = true;

  constructor(base: Store, end: (transaction: Transaction) => void) {
    super(base, base.reads);
    this.#base = base;
    this.#end = end;
  }

  override put(model: string, id: number, row: Row | undefined): void {
    if (this.#base.isHeld(model, id, this) || this.#outdated.has(nameRow(model, id)))
      throw concurrentUpdate();
    super.put(model, id, row);
    this.#base.raiseLastId(model, id);
  }

  override nextId(model: string): number {
    return this.#base.nextId(model);
  }

  override transact<T>(work: () => T): T {
    this.#checkOpen();
    return super.transact(work);
  }

  holds(model: string, id: number): boolean {
    return this.layer(model).entry(id) !== undefined;
  }

  /** Called when another transaction or call has changed the row. */
  outdate(row: string): void {
    this.#outdated.add(row);
  }

  commit(): void {
    const changes = this.changes();
    this.rollback();
    this.#base.transact(() => {
      for (const [model, id, row] of changes) this.#base.put(model, id, row ?? undefined);
    });
  }

  rollback(): void {
    this.#checkOpen();
    this.#isOpen = false;
    this.#end(this);
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new Error('The transaction has ended.');
  }
}

const nameRow = (model: string, id: number): string => `${model},${id}`;

const concurrentUpdate = (): Fault =>
  new Fault('psycopg2.errors.SerializationFailure', 'could not serialize access due to concurrent update\n');
