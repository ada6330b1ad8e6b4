import { Link } from '@tanstack/react-router';

interface CallsLinkProps {
  filters: { client_id?: string; instance?: string; approval?: string; request_id?: string };
  // biome-ignore lint/suspicious/noExplicitAny: whatever the component that draws the link gives it
  [name: string]: any;
}

/** A link to the calls that match the filters, for `renderRoot` of a component. */
export function CallsLink({ filters, ...props }: CallsLinkProps) {
  return <Link {...props} to="/calls" search={filters} />;
}
