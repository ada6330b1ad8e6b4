/** Finds the faults of a member in a problem, so that a form can show them beside the input. */
import { ProblemError } from '../api/send.ts';

/** For the `error` of an input: the faults of the member, or of a value within it. */
export function findFault(error: Error | null, member: string): string | undefined {
  const faults = error instanceof ProblemError ? (error.problem.faults ?? []) : [];
  const found = faults
    .filter(({ path }) => path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[`))
    .map(({ path, message }) => `${path === member ? 'It' : path} ${message}.`);
  return found.length === 0 ? undefined : found.join(' ');
}
