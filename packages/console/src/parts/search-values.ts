/** Reading filters from a URL. Whatever is not valid counts as absent: a link never breaks a page. */

export type SearchValues = Record<string, unknown>;

/** A text that is not empty. The router parses values that look like JSON. */
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

/** A whole number from 0. */
export function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Makes filters optional, so that links need not name them. */
export function optional<Filters extends object>(
  filters: Filters,
): { [Name in keyof Filters]?: Filters[Name] | undefined } {
  return filters;
}
