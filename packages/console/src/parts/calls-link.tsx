import { Link } from '@tanstack/react-router';

interface CallsLinkProps {
  /** Filters of the page of calls, as in the audit: `client_id`, `instance`, … */
  filters: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the component that draws the link gives it
  [name: string]: any;
}

/** A link to the calls that match, for `renderRoot` of a component. */
export function CallsLink({ filters, ...props }: CallsLinkProps) {
  // The page of calls reads its filters from the URL, and checks them itself.
  return <Link {...props} to={CALLS} search={filters} />;
}

const CALLS: string = '/calls';
