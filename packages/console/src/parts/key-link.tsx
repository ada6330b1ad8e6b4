import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useKeyNames } from './key-names.ts';

interface KeyLinkProps {
  id: string;
  /** Shown instead of the id. */
  name?: string | undefined;
}

/** A link to a client key. */
export function KeyLink({ id, name }: KeyLinkProps) {
  return (
    <Anchor
      className="data"
      {...(name === undefined ? {} : { title: `Key ${id}` })}
      renderRoot={(props) => <Link to="/keys/$id" params={{ id }} {...props} />}
    >
      {name ?? id}
    </Anchor>
  );
}

/**
 * Like {@link KeyLink}, with the name of the key. For a page that shows one key only: a list asks for all names at
 * once.
 */
export function NamedKeyLink({ id }: Pick<KeyLinkProps, 'id'>) {
  const names = useKeyNames([id]);
  return <KeyLink id={id} name={names[id]} />;
}
