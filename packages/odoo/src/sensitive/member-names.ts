/** Finds the row of sensitive-members.ts for the name of a member. */
import { DEFAULT } from './name-filter.ts';
import { SENSITIVE_MEMBERS, type SensitiveMember } from './sensitive-members.ts';

/** The row for the name of a field. `model` is the model of the values; null: not known. */
export function findMember(name: string, model: string | null): SensitiveMember | null {
  const field = name.startsWith(DEFAULT) ? name.slice(DEFAULT.length) : name;
  const ofModel = model === null ? undefined : OF_MODEL.get(`${model}/${field}`);
  return ofModel ?? BY_NAME.get(field) ?? BY_END.find(([end]) => field.endsWith(end))?.[1] ?? null;
}

const ROWS = SENSITIVE_MEMBERS.flatMap((row) => row.members.map((member) => [member, row] as const));
const ANYWHERE = ROWS.filter(([, { of }]) => of === undefined);

const OF_MODEL: ReadonlyMap<string, SensitiveMember> = new Map(
  ROWS.flatMap(([member, row]) => (row.of ?? []).map((model) => [`${model}/${member}`, row] as const)),
);
const BY_NAME: ReadonlyMap<string, SensitiveMember> = new Map(
  ANYWHERE.filter(([member]) => !member.startsWith('*')),
);
const BY_END: readonly (readonly [string, SensitiveMember])[] = ANYWHERE.filter(([member]) =>
  member.startsWith('*'),
).map(([member, row]) => [member.slice(1), row]);

/** The names of the rows. A leading `*` stands for any beginning. */
export const MEMBER_NAMES: readonly string[] = ROWS.map(([member]) => member);
