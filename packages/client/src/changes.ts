/** Reads the changes since a cursor, answer after answer. */
import type { CallOptions } from './options.ts';

export type Change<Row> =
  | {
      /** The record was created or changed, and matches the domain. */
      change: 'upsert';
      id: number;
      /** The record's `write_date`, as `2026-10-21T01:31:00Z`. */
      at: string | null;
      record: Row;
    }
  | {
      /** The record has changed and does not match the domain. It may never have matched. */
      change: 'left';
      id: number;
      at: string | null;
      record: null;
    }
  | {
      /** Only with `deleted`: no record with an id from `id` to `to` matches. You may never have had these records. */
      change: 'gone';
      id: number;
      to: number;
      at: null;
      record: null;
    };

export interface ChangesPage<Row> {
  changes: Change<Row>[];
  /** The cursor for the next call. Store it together with the effects of the changes. */
  cursor: string;
  /** True if there are more changes now. */
  more: boolean;
}

interface ChangesQuery {
  fields: readonly string[];
  since: string | null;
  limit?: number | undefined;
  /** True: the changes also name records that were deleted. */
  deleted?: boolean | undefined;
}

/** `call` is the body of the request, without context and instance. */
export type AskChanges = (
  call: { model_id: string } & ChangesQuery & { domain: readonly unknown[] },
  options?: CallOptions,
) => Promise<ChangesPage<{ id: number }>>;

export async function* readChanges(
  model: string,
  ask: AskChanges,
  domain: readonly unknown[],
  { since, ...query }: ChangesQuery,
  options?: CallOptions,
): AsyncGenerator<ChangesPage<{ id: number }>, void, undefined> {
  for (let more = true; more; ) {
    const page = await ask({ model_id: model, domain, ...query, since }, options);
    ({ cursor: since, more } = page);
    yield page;
  }
}
