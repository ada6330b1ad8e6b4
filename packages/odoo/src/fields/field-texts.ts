/** The texts with which a call names fields, as paths of names. Each function returns null for any other text. */
import { NAMED_COUNT } from '../grouping.ts';

export type Path = readonly string[];

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const PATH = `${NAME}(?:\\.${NAME})*`;
const PLAIN = new RegExp(`^${PATH}$`);
/** `date:month`, `amount:sum`. */
const GROUP = new RegExp(`^(${PATH})(?::[a-z_]+)?$`, 'i');
/** `total:sum(amount)`. Odoo reads the name before the colon if anything but one name is in the brackets. */
const NAMED_AGGREGATE = new RegExp(`^(${NAME}):[a-z_]+\\((${NAME})\\)$`, 'i');
const ORDER = new RegExp(
  `^"?(${PATH})"?(?::[a-z_]+)?"?(?:\\s+(?:asc|desc))?(?:\\s+nulls\\s+(?:first|last))?$`,
  'i',
);
/** The name of a group's number of records. */
const COUNT = '__count';
const COLUMN_PART = new RegExp(`^${NAME}$`);

/** `partner_id.name` */
export function parsePath(text: string): Path | null {
  return PLAIN.test(text) ? text.split('.') : null;
}

/** An empty path names no field. */
export function parseGroup(text: string): Path | null {
  if (text === COUNT) return [];
  return GROUP.exec(text)?.[1]?.split('.') ?? null;
}

/** The field that is aggregated. The name of the result is not a field. */
export function parseAggregate(text: string): Path | null {
  const field = NAMED_AGGREGATE.exec(text)?.[2];
  return field === undefined ? parseGroup(text) : [field];
}

/** The name of an aggregate's result. A server can take it as the name of a field to group by. */
export function parseResultName(text: string): Path | null {
  const name = NAMED_AGGREGATE.exec(text)?.[1];
  return name === undefined ? [] : [name];
}

/** The terms of `name desc, parent_id`. */
export function parseOrder(text: string): Path[] | null {
  const paths = text.split(',').map((term) => {
    const found = ORDER.exec(term.trim())?.[1];
    if (found === undefined) return null;
    return found === COUNT || found === NAMED_COUNT ? [] : found.split('.');
  });
  return paths.includes(null) ? null : (paths as Path[]);
}

/** `partner_id/name`, `partner_id.id`, `partner_id:id`, `.id` */
export function parseColumn(text: string): Path | null {
  const parts = text.split(/[/.:]/).filter((part) => part !== '');
  return parts.length > 0 && parts.every((part) => COLUMN_PART.test(part)) ? parts : null;
}
