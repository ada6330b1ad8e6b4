/**
 * Parses what an operator gives for an instance or a subscription. All errors are reported at once, without values: a
 * value may be secret.
 */
import type { InvalidMember } from '@erp-proxy/contract';
import type { z } from 'zod';

/** Invalid input of an operator. Nothing was changed. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly invalidMembers: InvalidMember[];

  constructor(invalidMembers: InvalidMember[]) {
    super(
      invalidMembers
        .map(({ path, message }) => (path === '' ? message : `\`${path}\` ${message}`))
        .join('; '),
    );
    this.invalidMembers = invalidMembers;
  }
}

/** Undefined members count as omitted. Each member has one error at most. Throws an {@link InputError}. */
export function parseInput<Output>(
  schema: z.ZodType<Output>,
  given: unknown,
  explainUnknown: (member: string) => string,
): Output {
  const result = schema.safeParse(withoutUndefined(given));
  if (result.success) return result.data;
  const found = new Map<string, string>();
  for (const issue of result.error.issues) {
    const isUnknown = issue.code === 'unrecognized_keys';
    for (const path of isUnknown ? issue.keys : [issue.path.join('.')])
      if (!found.has(path)) found.set(path, isUnknown ? explainUnknown(path) : issue.message);
  }
  throw new InputError([...found].map(([path, message]) => ({ path, message })));
}

function withoutUndefined(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
