/** Does the same with each of many items, a few at each turn of the event loop, so that nothing else waits for long. */

/** What follows from each, such as a refusal that is logged and sent, takes up to half a millisecond. */
const SLICE = 20;

/** The first ones are done at once. */
export function runInSlices<Item>(items: readonly Item[], act: (item: Item) => void, from = 0): void {
  const end = Math.min(items.length, from + SLICE);
  for (let index = from; index < end; index++) act(items[index] as Item);
  if (end < items.length) setImmediate(() => runInSlices(items, act, end));
}
