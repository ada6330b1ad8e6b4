import { printVersionTag, tagVersion, type VersionedView } from '@erp-proxy/contract';
import { useState } from 'react';
import { compareMembers, isSame, type MemberDifference } from './compare-members.ts';

export interface Edited<Draft> {
  draft: Draft;
  /** What the draft began with: it changes what differs from this. */
  before: Draft;
  change: (members: Partial<Draft>) => void;
  isDirty: boolean;
  /** The tag of the version that the draft changes. */
  tag: string;
  /** What somebody else has changed since the draft was begun, and the draft would overwrite. */
  differences: MemberDifference[];
  /** The tag of the newest version, for a draft that shall win. */
  latestTag: string;
  /** Begins anew with the newest version, or with the given one. */
  reset: (view?: VersionedView) => void;
}

/**
 * A draft of a stored object. It follows the object while nothing was typed. After that it keeps what was typed and the
 * version that it began with, whatever is read later. `toDraft` takes the members that the form changes.
 */
export function useEdited<View extends VersionedView, Draft extends object>(
  latest: View,
  toDraft: (view: View) => Draft,
): Edited<Draft> {
  const [base, setBase] = useState(latest);
  const [draft, setDraft] = useState(() => toDraft(latest));
  const before = toDraft(base);
  const isDirty = !isSame(before, draft);
  const isSameObject = latest.created_at === base.created_at;
  const isStale = !isSameObject || latest.version > base.version;
  if (isStale && !isDirty) {
    setBase(latest);
    setDraft(toDraft(latest));
  }
  const isUntouched = isSame(before, toDraft(latest));
  return {
    draft,
    before,
    change: (members) => setDraft((old) => ({ ...old, ...members })),
    isDirty,
    // A change of other members is not in conflict with this one.
    tag: printVersionTag(tagVersion(isSameObject && isStale && isUntouched ? latest : base)),
    differences: compareMembers(before, toDraft(latest), draft),
    latestTag: printVersionTag(tagVersion(latest)),
    reset(view = latest) {
      setBase(view as View);
      setDraft(toDraft(view as View));
    },
  };
}
