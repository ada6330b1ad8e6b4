/** Names of fields that may go one step further, to a field of related records: `order_line.price_unit`. Pure. */
import { cutText } from '@erp-proxy/contract';
import { ToolError } from './tool-error.ts';

export interface FieldPaths {
  /** Fields of the model itself, with those that lead to related records. */
  names: string[];
  /** By the field that leads to them: the fields of the related records. */
  related: ReadonlyMap<string, readonly string[]>;
}

/** Each of them is a further call on Odoo. */
const RELATIONS_MAX = 3;
const SHOWN_MAX = 100;

/** Throws a {@link ToolError} for longer paths, and for too many relations. */
export function readFieldPaths(fields: readonly string[]): FieldPaths {
  const related = new Map<string, Set<string>>();
  for (const field of fields) {
    const [name = '', ...path] = field.split('.');
    if (path.length === 0) continue;
    if (path.length > 1) throw refuseSteps(field);
    const names = related.get(name) ?? new Set();
    related.set(name, names.add(path[0] as string));
  }
  if (related.size > RELATIONS_MAX) {
    const message = `\`fields\` leads to ${related.size} relations; ${RELATIONS_MAX} are the most.`;
    throw new ToolError('invalid_params', message, { next: 'Ask for the others by another call.' });
  }
  return {
    names: [...new Set(fields.map((field) => field.split('.', 1)[0] as string))],
    related: new Map([...related].map(([name, names]) => [name, [...names]])),
  };
}

function refuseSteps(field: string): ToolError {
  return new ToolError('query_invalid', `"${cutText(field, SHOWN_MAX)}" has more than one step.`, {
    next: 'Ask for its first two names, and read the records behind them by read_records.',
  });
}
