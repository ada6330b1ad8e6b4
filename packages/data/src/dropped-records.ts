/**
 * Models whose search finds as many records as the call asks for, and then drops those that the user may not see. A
 * page of them can be short or empty although further records are visible (docs/odoo-facts.md#dropped-after-limit).
 */

/** The models of Odoo 14 to 19 whose `_search` drops records after applying the limit. */
const MODELS: ReadonlySet<string> = new Set(['mail.message', 'mail.activity', 'mail.scheduled.message']);

export function dropsRecords(model: string): boolean {
  return MODELS.has(model);
}

const LIMIT_MIN = 1_000;
const LIMIT_MAX = 1_000_000;
const GROWTH = 32;

/** The answer to a search with a limit. */
export type GapAnswer<Row, Failed> =
  /** `isCapped`: Odoo searched fewer records than the limit says. */
  | { first: Row | null; isCapped: boolean }
  /** `isTooLarge`: true if a lower limit may work. */
  | { failed: Failed; isTooLarge: boolean };

/**
 * Finds the first visible record after dropped ones, by searches whose limit grows up to a million. Null if none of
 * these records is visible.
 */
export async function findAcrossDropped<Row, Failed>(
  ask: (limit: number) => Promise<GapAnswer<Row, Failed>>,
): Promise<{ next: Row | null } | { failed: Failed }> {
  let dropped = 0;
  for (let limit = LIMIT_MIN; ; ) {
    const answer = await ask(limit);
    if ('failed' in answer) {
      const lower = Math.floor((dropped + limit) / 2);
      if (!answer.isTooLarge || lower === dropped) return { failed: answer.failed };
      limit = lower;
      continue;
    }
    if (answer.first !== null || answer.isCapped || limit === LIMIT_MAX) return { next: answer.first };
    dropped = limit;
    limit = Math.min(limit * GROWTH, LIMIT_MAX);
  }
}
