/** Prints a plan: one line for each key and instance (`+` add, `~` change, `=` keep), followed by its changes. */
import { clipText } from '@erp-proxy/contract';
import type { Step } from './plan.ts';

const SIGNS = { add: '+', change: '~', keep: '=' };
/** Certificates are too long to print. */
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
  return clipText(text, SHOWN_LENGTH_MAX);
}
