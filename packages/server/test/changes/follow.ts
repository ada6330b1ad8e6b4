/** Follows a model of a sandbox with readChanges, without a proxy, and keeps the copy that a caller would have. */

import {
  type Ask,
  type Change,
  type ChangesBounds,
  type ChangesQuery,
  type ChangesState,
  findGone,
  prepareContext,
  readChanges,
} from '@erp-proxy/data/testing';
import type { Sandbox } from '@erp-proxy/sandbox';

const BOUNDS: ChangesBounds = {
  changesMax: 1000,
  bytesMax: 2 ** 20,
  pageMax: 1000,
  idsMax: 10_000,
  overlapSeconds: 900,
  isOver: () => false,
};

export interface AskOptions {
  model?: string;
  /** False: the answers have no header `date`, as if a server before Odoo had removed it. */
  hasDate?: boolean;
  /** Called before each call to Odoo. */
  onCall?: () => void;
  /**
   * Whether the user may see the record. Other records are dropped after the search, as Odoo does for `mail.message`.
   */
  isVisible?: (id: number) => boolean;
}

/** Calls the sandbox as its administrator. */
export function askSandbox(
  { url, db, users: { admin } }: Sandbox,
  { model = 'res.partner', hasDate = true, onCall = () => {}, isVisible }: AskOptions = {},
): Ask<string> {
  return async ({ method, params, keyword }) => {
    onCall();
    const named = `{${Object.entries(keyword).map(([name, value]) => `${JSON.stringify(name)}:${value}`)}}`;
    const args = [db, admin.userId, admin.apiKey, model, method].map((arg) => JSON.stringify(arg));
    const response = await fetch(`${url}/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"jsonrpc":"2.0","id":1,"params":{"service":"object","method":"execute_kw","args":[${args},${params},${named}]}}`,
    });
    const text = await response.text();
    const { error } = JSON.parse(text);
    if (error)
      return {
        failure: error.data.message,
        ...(/Invalid field/.test(error.data.message) && { cause: 'query_invalid' as const }),
      };
    const answered = Date.parse(response.headers.get('date') as string) / 1000;
    // The time of the question, as the proxy computes it: it rounds the time until the answer up.
    const asked = answered - 1;
    const whole = text.slice(text.indexOf('"result": ') + 10, -1);
    const result = Buffer.from(isVisible === undefined ? whole : dropHidden(whole, isVisible));
    return { result, clock: hasDate ? { asked, answered } : null, limit: null };
  };
}

/** `result`: JSON text of records, or of ids. */
function dropHidden(result: string, isVisible: (id: number) => boolean): string {
  const found = JSON.parse(result) as (number | { id: number })[];
  return JSON.stringify(found.filter((one) => isVisible(typeof one === 'number' ? one : one.id)));
}

export class Follower {
  readonly #ask: Ask<string>;
  readonly #query: ChangesQuery;
  state: ChangesState | null = null;
  /** By id: the record as the last answer with it gave it. */
  readonly copy = new Map<number, unknown>();
  readonly given: Change[] = [];

  constructor(ask: Ask<string>, query: Partial<ChangesQuery> = {}) {
    this.#ask = ask;
    this.#query = {
      domain: '[]',
      fields: ['name'],
      context: prepareContext(null) as string,
      dropsRecords: false,
      findsDeleted: false,
      ...query,
    };
  }

  /** Reads one answer. Throws the failure or fault. */
  async read(bounds: Partial<ChangesBounds> = {}): Promise<{ changes: Change[]; more: boolean }> {
    const read = await readChanges(this.#ask, this.#query, this.state, { ...BOUNDS, ...bounds });
    if (!('changes' in read)) throw Object.assign(new Error(JSON.stringify(read)), read);
    // The state passes through JSON, as if another process read it.
    this.state = JSON.parse(JSON.stringify(read.state));
    for (const { change, id, record } of read.changes) {
      if (change === 'upsert') this.copy.set(id, JSON.parse(Buffer.from(record as Uint8Array).toString()));
      else this.copy.delete(id);
    }
    this.given.push(...read.changes);
    return read;
  }

  /** Reads answers until there are no more changes. */
  async readAll(bounds: Partial<ChangesBounds> = {}): Promise<Change[]> {
    const changes: Change[] = [];
    for (;;) {
      const read = await this.read(bounds);
      changes.push(...read.changes);
      if (!read.more) return changes;
    }
  }

  async dropGone(pageMax = 50): Promise<number[]> {
    const found = await findGone(this.#ask, this.#query, [...this.copy.keys()], { pageMax });
    if (!('gone' in found)) throw new Error(JSON.stringify(found));
    for (const id of found.gone) this.copy.delete(id);
    return found.gone;
  }
}
