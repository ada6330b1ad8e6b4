/** Recognizes values that delete records of a list: `{"delete": [ids]}`, and Odoo's own command `[2, id]`. Pure. */
import { isObject } from '../../json/is-object.ts';

const DELETE_COMMAND = 2;

/** Also finds deletions in lines that are created or updated. Other values can look like one; a person is asked too. */
export function hasDeletion(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => isDeleteCommand(item) || hasDeletion(item));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, item]) => (name === 'delete' && Array.isArray(item) && item.length > 0) || hasDeletion(item),
  );
}

function isDeleteCommand(value: unknown): boolean {
  return Array.isArray(value) && Number(value[0]) === DELETE_COMMAND && value.length > 1;
}
