/**
 * Checks that each field of the sandbox is described as on the recorded server of its version: type, related model, and
 * whether it is stored, searchable, sortable, required and readonly. For 14, 15 and 17, only four models were recorded,
 * without the last two properties. Each field must exist on a server.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JsonObject } from '../src/json/value.ts';
import type { Version } from '../src/versions/personality.ts';
import { openEnvironment } from './open-environment.ts';

/** By model and field: its type, its properties as letters, and the related model. */
type Recorded = Record<string, Record<string, readonly [type: string, marks: string, relation?: string]>>;

const marks = ['store', 'searchable', 'sortable', 'required', 'readonly'];
const versions: readonly Version[] = [14, 15, 16, 17, 18, 19];

/** Differences with their reasons. An entry whose difference does not occur fails the test. */
const explained: readonly { versions: readonly Version[]; fields: readonly string[]; reason: string }[] = [
  {
    versions: [16, 18, 19],
    fields: ['ir.model.fields.groups', 'ir.model.fields.selection_ids'],
    reason: 'The sandbox has no groups and no choices of selections as records.',
  },
  {
    versions: [14, 15, 16, 17, 18],
    fields: ['res.partner.date_localization'],
    reason: 'A field of an app that these servers do not have.',
  },
  {
    versions: [16, 18],
    fields: ['res.users.date_localization'],
    reason: 'A field of an app that these servers do not have.',
  },
  {
    versions: [18, 19],
    fields: ['res.users.barcode'],
    reason: 'The app of employees changes it on these servers.',
  },
];

for (const version of versions) {
  test(`Odoo ${version} describes fields as recorded`, () => {
    const { call, environment } = openEnvironment(version);
    const recorded = JSON.parse(
      readFileSync(new URL(`../recordings/fields-${version}.0.json`, import.meta.url), 'utf8'),
    ) as Recorded;
    const isWhole = 'ir.model' in recorded;
    const known = isWhole ? marks : marks.slice(0, 3);
    const differences: Record<string, unknown> = {};
    for (const name of environment.models.keys()) {
      const wanted = recorded[name];
      if (!wanted) {
        if (isWhole) differences[name] = 'a model that the server does not have';
        continue;
      }
      const found = call(name, 'fields_get', [[]]) as Record<string, JsonObject>;
      for (const [field, { type, relation, ...others }] of Object.entries(found)) {
        if (field.startsWith('x_')) continue;
        const ours = [type, known.filter((mark) => others[mark] === true).join(' '), relation].filter(
          (part) => part !== undefined,
        );
        if (JSON.stringify(ours) !== JSON.stringify(wanted[field]))
          differences[`${name}.${field}`] = { ours, recorded: wanted[field] };
      }
    }
    for (const field of explained.flatMap((each) => (each.versions.includes(version) ? each.fields : []))) {
      expect(Object.keys(differences)).toContain(field);
      delete differences[field];
    }
    expect(differences).toEqual({});
  });
}
