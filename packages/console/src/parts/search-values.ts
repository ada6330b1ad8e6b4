/** Reads filters from a URL. An invalid value counts as absent, so that no link breaks a page. */

export type SearchValues = Record<string, unknown>;

/** Reads a non-empty text. The router has parsed values that look like JSON. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function readChoice<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === value);
}

export function readFlag(value: unknown): true | undefined {
  return value === true || value === 'true' ? true : undefined;
}

/** Reads a whole number from 0. */
export function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Makes filters optional, so that links can omit them. */
export function optional<Filters extends object>(
  filters: Filters,
): { [Name in keyof Filters]?: Filters[Name] | undefined } {
  return filters;
}
