/**
 * The names of members of an instance in code, such as `timeoutMs`. The admin API, configuration files and the store
 * say `timeout_ms`. Pure.
 */
import { MEMBERS, type Members } from './members.ts';

type CodeName<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CodeName<Rest>>}`
  : Name;

export type CodeMembers = { readonly [Name in keyof Members as CodeName<Name>]: Members[Name] };

const NAMES = Object.keys(MEMBERS).map((name) => ({
  name,
  codeName: name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
}));

/** Leaves out what the object has beside the members. */
export function toCodeMembers(members: Members): CodeMembers {
  const values: Record<string, unknown> = members;
  return Object.fromEntries(NAMES.map(({ name, codeName }) => [codeName, values[name]])) as CodeMembers;
}

export function toMembers(members: CodeMembers): Members {
  const values: Record<string, unknown> = members;
  return Object.fromEntries(NAMES.map(({ name, codeName }) => [name, values[codeName]])) as Members;
}
