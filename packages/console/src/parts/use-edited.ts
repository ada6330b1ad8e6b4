import { useState } from 'react';
import { compareMembers, isSame, type MemberDifference } from './compare-members.ts';

export interface Edited<Draft> {
  draft: Draft;
  /** What the draft began with: it changes what differs from this. */
  before: Draft;
  change: (members: Partial<Draft>) => void;
  isDirty: boolean;
  /** For `if-match`: the version that the draft changes. */
  version: number;
  /** What somebody else has changed since the draft was begun, and the draft would overwrite. */
  differences: MemberDifference[];
  /** The newest version, for a draft that shall win. */
  latestVersion: number;
  /** Begins anew with the newest version, or with the given one. */
  reset: (view?: { version: number }) => void;
}

/**
 * A draft of a stored object. It follows the object while nothing was typed. After that it keeps what was typed and the
 * version that it began with, whatever is read later. `toDraft` takes the members that the form changes.
 */
export function useEdited<View extends { version: number }, Draft extends object>(
  latest: View,
  toDraft: (view: View) => Draft,
): Edited<Draft> {
  const [base, setBase] = useState(latest);
  const [draft, setDraft] = useState(() => toDraft(latest));
  const before = toDraft(base);
  const isDirty = !isSame(before, draft);
  const isStale = latest.version > base.version;
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
    version: isStale && isUntouched ? latest.version : base.version,
    differences: compareMembers(before, toDraft(latest), draft),
    latestVersion: latest.version,
    reset(view = latest) {
      setBase(view as View);
      setDraft(toDraft(view as View));
    },
  };
}
