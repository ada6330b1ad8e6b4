/** Everything that `npm run fuzz` fuzzes. */
import { JSON_TARGETS } from '../../../json/test/fuzz-targets.ts';
import { ODOO_TARGETS } from '../../../odoo/test/fuzz-targets.ts';
import { POLICY_TARGETS } from '../../../policy/test/fuzz-targets.ts';
import type { FuzzTarget } from './fuzz.ts';
import { TARGETS } from './targets.ts';

export interface FuzzedTarget extends FuzzTarget {
  /** Name of the package's folder below `packages`: whose blocks guide the fuzzer, and which has the corpus. */
  folder: string;
}

const BY_FOLDER = { json: JSON_TARGETS, odoo: ODOO_TARGETS, policy: POLICY_TARGETS, wire: TARGETS };

export const ALL_TARGETS: readonly FuzzedTarget[] = Object.entries(BY_FOLDER).flatMap(([folder, targets]) =>
  targets.map((target) => ({ ...target, folder })),
);
