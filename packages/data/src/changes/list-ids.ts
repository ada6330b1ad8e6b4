/** Lists the ids of the records that match, so that deleted records can be found later. */
import { findAcrossDropped } from '../dropped-records.ts';
import { askIds } from './changes-questions.ts';
import { readIds } from './read-rows.ts';
import type { Ask, ChangesFault, ChangesQuery } from './terms.ts';

/** Maximum ids of one call. */
const PAGE_IDS = 10_000;

type Failed<Failure> = { failure: Failure } | { fault: ChangesFault };

/** Returns ids in ascending order. Stops one page after `max`, so that the caller can see that the list is longer. */
export async function listIds<Failure>(
  ask: Ask<Failure>,
  query: Pick<ChangesQuery, 'domain' | 'context' | 'dropsRecords'>,
  max: number,
): Promise<{ ids: number[] } | Failed<Failure>> {
  const ids: number[] = [];
  let after = 0;
  for (;;) {
    const page = await askPage(after, PAGE_IDS);
    if (!('ids' in page)) return page;
    ids.push(...page.ids);
    after = page.ids.at(-1) ?? after;
    if (ids.length > max) return { ids };
    const isShort = page.ids.length < page.limit || page.limit === 0;
    if (!isShort || (query.dropsRecords && page.ids.length > 0)) continue;
    if (!query.dropsRecords) return { ids };
    const next = await findNext(after);
    if (typeof next === 'object') return next ?? { ids };
    after = next - 1;
  }

  async function askPage(
    from: number,
    count: number,
  ): Promise<{ ids: number[]; limit: number } | Failed<Failure>> {
    const asked = await ask(askIds(query, from, count));
    if ('failure' in asked) return asked;
    const limit = Math.min(count, asked.limit ?? count);
    const found = await readIds(asked.result, count);
    if (found === null) return invalidAnswer('It is not a list of ids.');
    if (found.some((id, at) => id <= (found[at - 1] ?? from)))
      return invalidAnswer('Its ids are not in their order.');
    return { ids: found, limit };
  }

  async function findNext(from: number): Promise<number | null | Failed<Failure>> {
    const found = await findAcrossDropped<number, Failed<Failure>>(async (count) => {
      const page = await askPage(from, count);
      return 'ids' in page
        ? { first: page.ids[0] ?? null, isCapped: page.limit < count }
        : { failed: page, isTooLarge: 'failure' in page && 'cause' in page && page.cause === 'too_large' };
    });
    return 'failed' in found ? found.failed : found.next;
  }
}

function invalidAnswer(message: string): { fault: ChangesFault } {
  return { fault: { type: 'answer_invalid', message } };
}
