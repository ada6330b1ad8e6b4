/** Records that one call creates: those of `create_record`, and the copies of the ids of `call_method`. */
const IDS_MAX = 200;

/** The ids in the result of a method that creates records; none if they are not all ids. */
export function readNewIds(result: unknown): number[] {
  const ids = Array.isArray(result) ? result : [result];
  return ids.length <= IDS_MAX && ids.every((id) => Number.isSafeInteger(id) && id > 0) ? ids : [];
}
