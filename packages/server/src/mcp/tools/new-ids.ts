/** The ids in the result of a method that creates records; none if they are not all ids. */
export function readNewIds(result: unknown): number[] {
  const ids = Array.isArray(result) ? result : [result];
  return ids.every((id) => Number.isSafeInteger(id) && id > 0) ? ids : [];
}
