/** Compares two JSON values by shape: types, members and their order. Empty values (false, [], null) match anything. */
import { Float, isObject, type Json } from '../src/json/value.ts';

/** Describes the first difference; undefined if there is none. */
export function findShapeDifference(recorded: Json, ours: Json, path = 'result'): string | undefined {
  if (isEmpty(recorded) || isEmpty(ours)) return undefined;
  if (Array.isArray(recorded) && Array.isArray(ours)) {
    for (let index = 0; index < Math.min(recorded.length, ours.length); index++) {
      const difference = findShapeDifference(
        recorded[index] as Json,
        ours[index] as Json,
        `${path}[${index}]`,
      );
      if (difference) return difference;
    }
    return undefined;
  }
  if (isObject(recorded) && isObject(ours)) {
    const [wanted, found] = [Object.keys(recorded), Object.keys(ours)];
    if (wanted.join() !== found.join())
      return `${path} has members ${found.join()}, recorded ${wanted.join()}`;
    for (const name of wanted) {
      const difference = findShapeDifference(recorded[name] as Json, ours[name] as Json, `${path}.${name}`);
      if (difference) return difference;
    }
    return undefined;
  }
  const [wanted, found] = [nameShape(recorded), nameShape(ours)];
  return wanted === found ? undefined : `${path} is ${found}, recorded ${wanted}`;
}

function isEmpty(value: Json): boolean {
  return value === null || value === false || (Array.isArray(value) && value.length === 0);
}

function nameShape(value: Json): string {
  if (value instanceof Float) return 'float';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'bigint' ? 'number' : typeof value;
}
