/** Selects the definition of a version. */
import type { Version } from './personality.ts';
import type { VersionDefinition } from './version-definition.ts';
import { version14 } from './version14.ts';
import { version15 } from './version15.ts';
import { version16 } from './version16.ts';
import { version17 } from './version17.ts';
import { version18 } from './version18.ts';
import { version19 } from './version19.ts';
import { version22 } from './version22.ts';

export function pickPersonality(version: Version): VersionDefinition {
  return {
    14: version14,
    15: version15,
    16: version16,
    17: version17,
    18: version18,
    19: version19,
    22: version22,
  }[version];
}
