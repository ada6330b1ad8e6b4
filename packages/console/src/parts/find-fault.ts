/** Finds the faults of a member in a problem, so that a form shows each beside its input. */
import { ProblemError } from '../api/send.ts';

/** For the `error` of an input: what is wrong with the member, or with something in it. */
export function findFault(error: Error | null, member: string): string | undefined {
  const faults = error instanceof ProblemError ? (error.problem.faults ?? []) : [];
  const found = faults
    .filter(({ path }) => path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[`))
    .map(({ path, message }) => `${path === member ? 'It' : path} ${message}.`);
  return found.length === 0 ? undefined : found.join(' ');
}
