/** Formats a problem of the admin API for a terminal. */
import type { Problem } from '@erp-proxy/contract';

export function explainProblem({ detail, faults = [] }: Problem): string {
  return [detail, ...faults.map(({ path, message }) => `  ${path}: ${message}`)].join('\n');
}
