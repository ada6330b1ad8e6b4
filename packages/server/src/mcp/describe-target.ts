/** Names the records of a call for the person who is asked about it. */
import { mayCall } from '../policy/abilities.ts';
import { isObject } from './fields.ts';
import type { Session } from './session.ts';
import { cleanText } from './show.ts';
import { ToolError } from './tool-error.ts';

const NAMED_MAX = 5;
const NAME_LENGTH_MAX = 80;

export async function describeTarget(
  {
    model,
    ids = [],
    instance,
  }: { model: string; ids?: readonly number[] | undefined; instance?: string | undefined },
  session: Session,
): Promise<string> {
  const target = await session.pickInstance(instance);
  if (ids.length === 0) return `${model} on ${target.name}`;
  const what = `${ids.length === 1 ? 'one record' : `${ids.length} records`} of ${model} on ${target.name}`;
  if (!mayCall(session.policy, model, 'read')) return `${what} (ids ${ids.slice(0, NAMED_MAX).join(', ')})`;
  const rows = await session
    .call(target, model, 'read', [ids.slice(0, NAMED_MAX), ['display_name']])
    .catch((error: unknown) => {
      if (error instanceof ToolError) return [];
      throw error;
    });
  const names = (Array.isArray(rows) ? rows : []).filter(isObject).map(({ id, display_name: name }) => {
    // A name must not look like the end of the question.
    const text = cleanText(String(name))
      .replace(/[\s“”]+/g, ' ')
      .slice(0, NAME_LENGTH_MAX);
    return `“${text}” (id ${id})`;
  });
  const more = ids.length > names.length ? ' and others' : '';
  return `${what}: ${names.join(', ')}${more}`;
}
