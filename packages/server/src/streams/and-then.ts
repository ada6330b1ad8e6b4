/** Continues with a value that may have to be waited for. */

export type Awaitable<Value> = Value | Promise<Value>;

/** Passes the value to `next`: now if it is known, so that what need not wait stays synchronous. */
export function andThen<Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
