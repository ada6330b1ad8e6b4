/** Handles many items in small slices, one per turn of the event loop, so that other work is not delayed for long. */

/** Items per slice. One item, such as a refusal that is logged and sent, may take half a millisecond. */
const SLICE_SIZE = 20;

/** Handles the first slice synchronously. */
export function runInSlices<Item>(items: readonly Item[], handle: (item: Item) => void, from = 0): void {
  const end = Math.min(items.length, from + SLICE_SIZE);
  for (let index = from; index < end; index++) handle(items[index] as Item);
  if (end < items.length) setImmediate(() => runInSlices(items, handle, end));
}
