/** Names the types of models: `res.partner` is `ResPartner`. Knows no language. */

/** A name that is taken gets a number. `suffixes`: what the names of further types of a model end in. */
export function nameTypes(
  models: readonly string[],
  reserved: readonly string[],
  suffixes: readonly string[],
): Map<string, string> {
  const taken = new Set(reserved);
  const isFree = (title: string) => !['', ...suffixes].some((suffix) => taken.has(title + suffix));
  return new Map(
    models.map((name) => {
      const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
      const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
      const base = /^[A-Za-z]/.test(joined) ? joined : `Model${joined}`;
      let title = base;
      for (let number = 2; !isFree(title); number++) title = `${base}_${number}`;
      for (const suffix of ['', ...suffixes]) taken.add(title + suffix);
      return [name, title];
    }),
  );
}

/** Compares by code unit, so that the order does not depend on the language of the machine. */
export function compareNames(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
