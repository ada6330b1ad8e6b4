import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';

/** The id of a person, which leads to the connections of this person. */
export function PersonLink({ id }: { id: string }) {
  return (
    <Anchor
      className="data"
      style={{ overflowWrap: 'anywhere' }}
      renderRoot={(props) => <Link to="/people" search={{ person: id }} {...props} />}
    >
      {id}
    </Anchor>
  );
}
