/** An error of the admin service, as the problem (RFC 9457) that its caller receives. */
import type { InvalidMember, Problem } from '@erp-proxy/contract';

export interface AdminErrorOptions extends ErrorOptions {
  /** After how many seconds the same request may succeed. */
  retryAfterSeconds?: number;
}

export class AdminError extends Error {
  override readonly name = 'AdminError';
  readonly problem: Problem;
  readonly retryAfterSeconds: number | null;

  constructor(problem: Problem, { retryAfterSeconds, ...options }: AdminErrorOptions = {}) {
    super(problem.detail, options);
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds ?? null;
  }
}

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

/** Creates a problem of the type `about:blank`: its status and its detail say everything (RFC 9457 section 4.2.1). */
export function describeProblem(status: ProblemStatus, detail: string, faults?: InvalidMember[]): Problem {
  return { type: 'about:blank', title: TITLES[status], status, detail, ...(faults ? { faults } : {}) };
}

export function createAdminError(status: ProblemStatus, detail: string): AdminError {
  return new AdminError(describeProblem(status, detail));
}

export function createInputError(invalid: InvalidMember[]): AdminError {
  const detail =
    invalid.length === 1 ? 'One value cannot be taken.' : `${invalid.length} values cannot be taken.`;
  return new AdminError(describeProblem(400, detail, invalid));
}
