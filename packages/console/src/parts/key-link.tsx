import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** A link to a client key. */
export function KeyLink({ id }: { id: string }) {
  return (
    <Anchor className="data" renderRoot={(props) => <Link to="/keys/$id" params={{ id }} {...props} />}>
      {id}
    </Anchor>
  );
}
