import { printVersionTag, tagVersion, type VersionedView } from '@erp-proxy/contract';
import { useState } from 'react';
import { compareMembers, isSame, type MemberDifference } from './compare-members.ts';

export interface Edited<Draft> {
  draft: Draft;
  /** The initial draft. Members of the draft that differ from it are changes. */
  before: Draft;
  change: (members: Partial<Draft>) => void;
  isDirty: boolean;
  /** The tag of the version to which the change applies. */
  tag: string;
  /** Members that somebody else has changed since, and that the draft would overwrite. */
  differences: MemberDifference[];
  /** The tag of the newest version, to overwrite it by the draft. */
  latestTag: string;
  /** Starts a new draft from the newest version, or from the given one. */
  reset: (view?: VersionedView) => void;
}

/**
 * A draft of a stored object. It follows the object until something is typed. From then on it keeps the input and the
 * initial version, whatever is read later. `toDraft` picks the members that the form can change.
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
    // If somebody else has changed other members only, the draft applies to the newest version without a conflict.
    tag: printVersionTag(tagVersion(isSameObject && isStale && isUntouched ? latest : base)),
    differences: compareMembers(before, toDraft(latest), draft),
    latestTag: printVersionTag(tagVersion(latest)),
    reset(view = latest) {
      setBase(view as View);
      setDraft(toDraft(view as View));
    },
  };
}
