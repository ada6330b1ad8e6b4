/** A refusal of the admin service, as the problem (RFC 9457) that its caller is told. */
import type { Problem } from '@erp-proxy/contract';

export class AdminError extends Error {
  override readonly name = 'AdminError';
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.problem = problem;
  }
}

export type Fault = NonNullable<Problem['faults']>[number];

const TITLES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
} as const;

/** Statuses that a problem can have. */
export type ProblemStatus = keyof typeof TITLES;

/** A problem that its status and its words say all about: hence `about:blank` (RFC 9457 section 4.2.1). */
export function describeProblem(status: ProblemStatus, detail: string, faults?: Fault[]): Problem {
  return { type: 'about:blank', title: TITLES[status], status, detail, ...(faults ? { faults } : {}) };
}

export function refuse(status: ProblemStatus, detail: string): AdminError {
  return new AdminError(describeProblem(status, detail));
}

/** For input that is wrong in one or several places. */
export function refuseFaults(faults: Fault[]): AdminError {
  const detail =
    faults.length === 1 ? 'One value cannot be taken.' : `${faults.length} values cannot be taken.`;
  return new AdminError(describeProblem(400, detail, faults));
}
