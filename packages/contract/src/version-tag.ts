/**
 * Names one version of a key, an instance or a subscription, as an `etag`. An object that was removed and added again
 * under its name has the same versions as the earlier one, but another time of creation.
 */

export interface VersionTag {
  readonly version: number;
  /** Milliseconds since 1970; null: of any object with this name, as tags were before they had this time. */
  readonly createdAt: number | null;
}

/** What each view of such an object has. */
export interface VersionedView {
  version: number;
  created_at: string;
}

export function tagVersion({ version, created_at }: VersionedView): VersionTag {
  return { version, createdAt: Date.parse(created_at) };
}

/** In quotes, as in `etag` and `if-match`. */
export function printVersionTag({ version, createdAt }: VersionTag): string {
  return createdAt === null ? `"${version}"` : `"${version}-${createdAt.toString(36)}"`;
}

const TAG = /^"([1-9]\d{0,14})(?:-([\da-z]{1,10}))?"$/;

/** Null if it is not the tag of a version. */
export function readVersionTag(text: string): VersionTag | null {
  const [, version, createdAt] = TAG.exec(text) ?? [];
  if (version === undefined) return null;
  return {
    version: Number(version),
    createdAt: createdAt === undefined ? null : Number.parseInt(createdAt, 36),
  };
}
