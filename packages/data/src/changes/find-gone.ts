/** Finds deleted records. Odoo keeps no trace of a deletion, so the ids are compared with those that exist. */
import { askMatching } from './changes-questions.ts';
import { readIds } from './read-rows.ts';
import type { Ask, ChangesFault, ChangesQuery } from './terms.ts';

/** Maximum ids of one call. */
const PAGE_IDS = 1000;

/**
 * Returns the ids whose records do not exist or are no longer visible. Makes one call for each thousand ids, or for as
 * many as the policy allows. `bounds.pageMax`: maximum ids of a call.
 */
export async function findGone<Failure>(
  ask: Ask<Failure>,
  { context }: Pick<ChangesQuery, 'context'>,
  ids: readonly number[],
  { pageMax }: { pageMax: number } = { pageMax: PAGE_IDS },
): Promise<{ gone: number[] } | { failure: Failure } | { fault: ChangesFault }> {
  const gone: number[] = [];
  let size = pageMax;
  for (let at = 0; at < ids.length; ) {
    const page = ids.slice(at, at + size);
    const asked = await ask(askMatching({ domain: '[]', context }, page));
    if ('failure' in asked) return { failure: asked.failure };
    if (asked.limit !== null && asked.limit < page.length) {
      if (asked.limit < 1) return { fault: { type: 'answer_invalid', message: 'It has no records.' } };
      size = asked.limit;
      continue;
    }
    const found = await readIds(asked.result, page.length);
    if (found === null) return { fault: { type: 'answer_invalid', message: 'It is not a list of ids.' } };
    const existing = new Set(found);
    gone.push(...page.filter((id) => !existing.has(id)));
    at += page.length;
  }
  return { gone };
}
