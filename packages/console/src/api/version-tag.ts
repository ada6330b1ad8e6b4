/** What a view says about its version. */
export interface Versioned {
  version: number;
  created_at: string;
}

/** The `etag` of a view: an object that was removed and added again has the same versions, but another creation. */
export function printVersionTag({ version, created_at }: Versioned): string {
  return `"${version}-${Date.parse(created_at).toString(36)}"`;
}
