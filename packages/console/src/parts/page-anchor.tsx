import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PageLink } from './target-link.ts';

interface PageAnchorProps extends AnchorProps {
  /** Null to show the content without a link. */
  link: PageLink | null;
  children: ReactNode;
}

/** A link whose page is known only at run time. */
export function PageAnchor({ link, children, ...props }: PageAnchorProps) {
  if (link === null) return <span className={props.className}>{children}</span>;
  return (
    <Anchor {...props} renderRoot={(root) => <Link {...(link as { to: '/' })} {...root} />}>
      {children}
    </Anchor>
  );
}
