/** The members of an object that have one of these names, in the order of the object. */
export function pick<From extends object, Name extends PropertyKey>(
  from: From,
  names: readonly Name[],
): Pick<From, keyof From & Name> {
  const wanted: readonly PropertyKey[] = names;
  return Object.fromEntries(Object.entries(from).filter(([name]) => wanted.includes(name))) as From;
}
