/** Lists the ids of the records that match, so that it can be told later which of them have gone. */
import { askIds } from './changes-questions.ts';
import { readIds } from './read-rows.ts';
import type { Ask, ChangesFault, ChangesQuery } from './terms.ts';

/** Ids of one call. */
const PAGE_IDS = 10_000;

/** Ascending; at most about `max` and one page more, so that a longer list can be told. */
export async function listIds<Failure>(
  ask: Ask<Failure>,
  query: Pick<ChangesQuery, 'domain' | 'context'>,
  max: number,
): Promise<{ ids: number[] } | { failure: Failure } | { fault: ChangesFault }> {
  const ids: number[] = [];
  for (;;) {
    const asked = await ask(askIds(query, ids.at(-1) ?? 0, PAGE_IDS));
    if ('failure' in asked) return { failure: asked.failure };
    const found = await readIds(asked.result, PAGE_IDS);
    if (found === null) return { fault: { type: 'answer_invalid', message: 'It is not a list of ids.' } };
    for (const id of found) {
      if (id <= (ids.at(-1) ?? 0))
        return { fault: { type: 'answer_invalid', message: 'Its ids are not in their order.' } };
      ids.push(id);
    }
    if (found.length < Math.min(asked.limit ?? PAGE_IDS, PAGE_IDS) || found.length === 0 || ids.length > max)
      return { ids };
  }
}
