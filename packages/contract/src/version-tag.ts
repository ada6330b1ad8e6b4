/**
 * Names one version of a key, an instance or a subscription, as an `etag`. If an object is removed and another one is
 * added under the same name, their versions can be equal, but their times of creation differ.
 */

export interface VersionTag {
  readonly version: number;
  /**
   * Milliseconds since 1970; null in an older tag, which has no time of creation and matches any object with this name.
   */
  readonly createdAt: number | null;
}

/** The members of a view from which its tag is made. */
export interface VersionedView {
  version: number;
  created_at: string;
}

export function tagVersion({ version, created_at }: VersionedView): VersionTag {
  return { version, createdAt: Date.parse(created_at) };
}

/** Prints a tag in quotes, as in `etag` and `if-match`. */
export function printVersionTag({ version, createdAt }: VersionTag): string {
  return createdAt === null ? `"${version}"` : `"${version}-${createdAt.toString(36)}"`;
}

const TAG = /^"([1-9]\d{0,14})(?:-([\da-z]{1,10}))?"$/;

/** Null if the text is not the tag of a version. */
export function readVersionTag(text: string): VersionTag | null {
  const [, version, createdAt] = TAG.exec(text) ?? [];
  if (version === undefined) return null;
  return {
    version: Number(version),
    createdAt: createdAt === undefined ? null : Number.parseInt(createdAt, 36),
  };
}
