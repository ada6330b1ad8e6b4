/** A scripted Odoo, and a query that reads from it. */
import type { Question } from '../ask-odoo.ts';
import { prepareContext } from './changes-questions.ts';
import type { Asked } from './terms.ts';

export const QUERY = {
  domain: '[]',
  fields: ['name'],
  context: prepareContext(null) as string,
  dropsRecords: false,
  findsDeleted: false,
};
export const BOUNDS = {
  changesMax: 10,
  bytesMax: 1000,
  pageMax: 2,
  idsMax: 5,
  overlapSeconds: 900,
  isOver: () => false,
};

export const row = (id: number, second: number, name = 'x') => ({
  id,
  name,
  write_date: new Date(1_800_000_000_000 + second * 1000).toISOString().slice(0, 19).replace('T', ' '),
});

export type Reply = object[] | string | { failure: string; cause?: 'too_large' };

/** Answers each question with the next reply, and repeats the last one. */
export function script(replies: Reply[]) {
  const asked: Question[] = [];
  const ask = async (question: Question): Promise<Asked<string>> => {
    asked.push(question);
    const reply = replies[Math.min(asked.length, replies.length) - 1] as Reply;
    if (typeof reply === 'object' && 'failure' in reply) return reply;
    const result = Buffer.from(typeof reply === 'string' ? reply : JSON.stringify(reply));
    return { result, clock: { asked: 1_800_000_100, answered: 1_800_000_101 }, limit: null };
  };
  return { ask, asked };
}
