/**
 * Finds the row of sensitive-members.ts for the name of a member. A body can hold millions of names, so nearly all are
 * rejected by their last bytes, without decoding.
 */
import type { ByteRange } from '../../json/span.ts';
import { SENSITIVE_MEMBERS, type SensitiveMember } from './sensitive-members.ts';

/** The row for the name of a field. `model` is the model that the values are for; null: not known. */
export function findMember(name: string, model: string | null): SensitiveMember | null {
  const field = name.startsWith(DEFAULT) ? name.slice(DEFAULT.length) : name;
  const ofModel = model === null ? undefined : OF_MODEL.get(`${model}/${field}`);
  return ofModel ?? BY_NAME.get(field) ?? BY_END.find(([end]) => field.endsWith(end))?.[1] ?? null;
}

/**
 * A cheap check, which is false for nearly all names without a row. The range includes the quotes; the name has no
 * escapes.
 */
export function couldBeMember(bytes: Uint8Array, name: ByteRange): boolean {
  return KEYS.has(readKey(bytes, name));
}

/** In a context, `default_x` is the value of field `x` if the call gives none. */
const DEFAULT = 'default_';

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

/** No pattern of the table is shorter. */
const KEY_BYTES = 7;
/** The bits in which letters and `_` differ. With only these, a key fits into a number. */
const KEY_BITS = 0x1f;
const KEYS: ReadonlySet<number> = new Set(
  ROWS.flatMap(([member]) => {
    const name = member.replace('*', '');
    return [`"${name}"`, `"${DEFAULT}${name}"`].map((text) => {
      const bytes = Buffer.from(text);
      return readKey(bytes, { start: 0, end: bytes.length });
    });
  }),
);

/** The last bytes of a name, including its opening quote if the name is short. */
function readKey(bytes: Uint8Array, { start, end }: ByteRange): number {
  let key = 0;
  for (let at = Math.max(start, end - 1 - KEY_BYTES); at < end - 1; at++) {
    key = key * (KEY_BITS + 1) + (bytes[at]! & KEY_BITS);
  }
  return key;
}
