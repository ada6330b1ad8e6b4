import { Link } from '@tanstack/react-router';
import type { AnchorHTMLAttributes } from 'react';

interface CallsLinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  /** Filters of the page of calls, as in the audit: `client_id`, `instance`, … */
  filters: Record<string, string>;
}

/** A link to the calls that match. */
export function CallsLink({ filters, ...props }: CallsLinkProps) {
  // The page of calls checks its filters itself.
  return <Link {...props} to={CALLS as '/'} search={filters as never} />;
}

const CALLS: string = '/calls';
