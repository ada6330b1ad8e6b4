/** A plan as text: a line for each thing, `+` to add, `~` to change, `=` as it is, and what changes below it. */
import type { Step } from './plan.ts';

const SIGNS = { add: '+', change: '~', keep: '=' };
/** A certificate would fill the screen. */
const SHOWN_LENGTH_MAX = 200;

export function printPlan(steps: readonly Step[]): string {
  return steps.map(printStep).join('');
}

function printStep({ kind, target, changes }: Step): string {
  const lines = Object.entries(changes).map(([path, { from, to }]) =>
    kind === 'add' ? `    ${path}: ${show(to)}\n` : `    ${path}: ${show(from)} → ${show(to)}\n`,
  );
  return `${SIGNS[kind]} ${target}\n${lines.join('')}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}
