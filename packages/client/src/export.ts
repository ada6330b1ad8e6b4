/**
 * Reads all records of a domain in one request, as they arrive. After a broken connection, another request continues
 * after the last record, so that no record is missed or returned twice.
 */
import type { Exports } from './calls.ts';
import { ErpProxyError } from './errors.ts';
import { wait } from './limit-time.ts';
import type { CallOptions } from './options.ts';
import { createRows, type Pages } from './paginate.ts';
import { chooseDelayMs } from './retry-budget.ts';

interface Query {
  fields: readonly string[];
  limit?: number | undefined;
  after?: number | undefined;
}

export interface CsvQuery extends Query {
  /** Whether the text begins with a byte order mark, by which spreadsheet programs detect UTF-8. Default: false. */
  bom?: boolean | undefined;
  /** Separator of cells. Default: a comma. */
  delimiter?: ',' | ';' | '\t' | '|' | undefined;
  /** Whether `'` precedes a text that a spreadsheet program would run as a formula. Default: true. */
  escapeFormulas?: boolean | undefined;
}

type Row = { id: number };

export function createExport(
  model: string,
  { open, retries, budget }: Exports,
  domain: readonly unknown[],
  query: Query,
  options: CallOptions = {},
): Pages<Row> {
  const { fields, limit = Number.POSITIVE_INFINITY } = query;

  async function* readAll(most: number): AsyncGenerator<Row> {
    let { after } = query;
    for (let left = most, attempt = 1; left > 0; attempt++) {
      // JSON prints infinity as null, which means no limit.
      const ask = { model_id: model, domain, fields, after, limit: left };
      try {
        for await (const line of open(ask, options, attempt)) {
          const row = JSON.parse(line) as Row;
          yield row;
          after = row.id;
          left--;
          attempt = 1;
        }
        return;
      } catch (error) {
        const isPassing = error instanceof ErpProxyError && error.retryable;
        if (!isPassing || attempt > retries || !budget.take()) throw error;
        await wait(chooseDelayMs(attempt, error.retryAfter), options.signal);
      }
    }
  }

  return createRows(readAll, limit);
}
