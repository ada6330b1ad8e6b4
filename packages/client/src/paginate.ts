/**
 * Reads all records of a domain, page after page, so that no record that exists throughout is given twice or missed.
 * Pages by offset would do both while records are made and removed.
 *
 * By id, each page begins after the last id. Any other order cannot be continued after a value. Odoo orders relations
 * by the name of the related record but compares their ids, and returns times without the fraction by which it orders
 * them (docs/decisions/0023-client.md). For such an order, one search returns all ids, and the pages are
 * read by these ids.
 */
import type { Execute } from './calls.ts';
import { type ErpProxyError, refuse } from './errors.ts';
import type { CallOptions } from './options.ts';

/** An async iterator of records. Each loop over it reads the records again. */
export interface Pages<Row> extends AsyncIterable<Row> {
  /** Returns the records as a list, with at most `limit` of them if it is given. */
  toArray(options?: { limit?: number }): Promise<Row[]>;
}

interface Query {
  fields?: readonly string[];
  order?: string;
  pageSize?: number;
  limit?: number;
}

type Row = { id: number };

const PAGE_SIZE = 500;

export function createPages(
  model: string,
  execute: Execute,
  domain: readonly unknown[],
  query: Query,
  options?: CallOptions,
): Pages<Row> {
  const { fields, order = 'id', pageSize = PAGE_SIZE, limit = Number.POSITIVE_INFINITY } = query;
  const searchRead = (more: readonly unknown[], keyword: object) =>
    execute(
      {
        action: 'search_read',
        model_id: model,
        params: [[...more, ...domain]],
        keyword: { ...(fields ? { fields } : {}), ...keyword },
      },
      options,
    );

  /** Orders by id only: terms after the first one have no effect, because ids are unique. */
  async function* readById(direction: string | undefined, most: number): AsyncGenerator<Row> {
    const isDescending = direction?.toLowerCase() === 'desc';
    let after: unknown[] = [];
    for (let left = most, size = pageSize; left > 0; ) {
      const asked = Math.min(size, left);
      const keyword = { order: isDescending ? 'id desc' : 'id', limit: asked };
      const { result, limit: allowed = asked } = await searchRead(after, keyword);
      const rows = result as Row[];
      yield* rows;
      if (rows.length < Math.min(asked, allowed)) return;
      // The policy of the key may limit the records of a page.
      size = Math.min(size, allowed);
      left -= rows.length;
      after = [['id', isDescending ? '<' : '>', rows.at(-1)?.id]];
    }
  }

  async function* readOrdered(most: number): AsyncGenerator<Row> {
    const ids = await searchIds(most);
    for (let at = 0; at < ids.length; ) {
      const part = ids.slice(at, at + pageSize);
      const { result, limit: allowed = pageSize } = await searchRead([['id', 'in', part]], { order: 'id' });
      if (allowed < part.length) throw refuseOrder(allowed);
      const rows = new Map((result as Row[]).map((row) => [row.id, row]));
      for (const id of part) {
        const row = rows.get(id);
        // Missing if the record was deleted, or does not match any more.
        if (row) yield row;
      }
      at += pageSize;
    }
  }

  async function searchIds(most: number): Promise<number[]> {
    const keyword = {
      order: /(^|,)\s*id\b/i.test(order) ? order : `${order}, id`,
      ...(Number.isFinite(most) ? { limit: most } : {}),
    };
    const sent = await execute({ action: 'search', model_id: model, params: [domain], keyword }, options);
    const ids = sent.result as number[];
    if (sent.limit !== undefined && sent.limit < most && ids.length >= sent.limit)
      throw refuseOrder(sent.limit);
    return ids;
  }

  async function* readAll(most: number): AsyncGenerator<Row> {
    const byId = /^\s*id(?:\s+(\w+))?\s*(,|$)/i.exec(order);
    yield* byId ? readById(byId[1], most) : readOrdered(most);
  }

  return createRows(readAll, limit);
}

/** `readAll` is called with the maximum number of records. */
export function createRows<Item>(
  readAll: (most: number) => AsyncGenerator<Item>,
  limit: number,
): Pages<Item> {
  return {
    [Symbol.asyncIterator]: () => readAll(limit),
    async toArray(given = {}) {
      const rows: Item[] = [];
      for await (const row of readAll(Math.min(limit, given.limit ?? limit))) rows.push(row);
      return rows;
    },
  };
}

function refuseOrder(limit: number): ErpProxyError {
  return refuse(
    `The policy of the key returns at most ${limit} records at once, so more of them can only be read by id: leave out \`order\`.`,
  );
}
