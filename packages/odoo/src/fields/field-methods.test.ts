/** Every parameter that Odoo 14 to 19 has for a method of the table is in its row, at its position. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RELATED_ARGUMENTS } from '../related/related-arguments.ts';
import { findSignature } from '../signatures/signatures.ts';
import { FIELD_METHODS, findFieldMethod } from './field-methods.ts';

/** Method → parameter → versions: the union over all models, from the recorded signatures and lists of parameters. */
const RECORDED: Record<string, Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../test/data/parameters-14-to-19.json', import.meta.url), 'utf8'),
);
const FORMS =
  'free names listed shown described domain order group_order groups aggregates aggregates_or_groups having specification page_specification group_specifications values columns loaded_columns changes name_text name_operator progress_bar panel_parents panel_all panel_field panel_domain panel_group group_domains unreadable';

const rowOf = (method: string) => findFieldMethod('any.model', method);

test('every form of the table exists', () => {
  const forms = FIELD_METHODS.flatMap((name) => {
    const [model, method] = name.includes('/') ? name.split('/') : ['any.model', name];
    return findFieldMethod(model!, method!)!.arguments.map(({ form }) => form as string);
  });
  expect(new Set(forms)).toEqual(new Set(FORMS.split(' ')));
});

test('every recorded parameter of a method is in its row', () => {
  const missing = Object.entries(RECORDED).flatMap(([method, parameters]) => {
    const row = rowOf(method);
    if (row === undefined || row.isOpen) return [];
    const known = new Set(row.arguments.flatMap(({ names }) => names));
    const names = Object.keys(parameters).filter((name) => !name.startsWith('*') && name !== 'context');
    return names.filter((name) => !known.has(name)).map((name) => `${method} ${name}`);
  });
  expect(missing).toEqual([]);
});

test('every parameter of Odoo 19 has the position of its row', () => {
  const wrong = FIELD_METHODS.filter((name) => !name.includes('/')).flatMap((method) => {
    const row = rowOf(method);
    const signature = findSignature('any.model', method);
    if (row === undefined || signature === undefined || row.isOpen) return [];
    const offset = signature.kind === 'ids' && row.arguments[0]?.names[0] === 'ids' ? 1 : 0;
    return signature.parameters.flatMap(({ name, kind }, index) => {
      if (kind !== 'positional') return [];
      const found = row.arguments.filter(
        ({ names, position }) => names.includes(name) || position === index + offset,
      );
      const isFree = found.length > 0 && found.every(({ form }) => form === 'free');
      const isPlaced = found.some(
        ({ names, position }) => names.includes(name) && position === index + offset,
      );
      return isFree || isPlaced || MOVED.has(`${method} ${name}`) ? [] : [`${method} ${name}`];
    });
  });
  expect(wrong).toEqual([]);
});

/** Parameters that in 19 have the position of another parameter of earlier versions, with the same form. */
const MOVED = new Set(['web_read_group groupby', 'web_read_group aggregates']);

test('every argument that can name fields of related records is in the row of its method', () => {
  const missing = RELATED_ARGUMENTS.flatMap(({ methods, name, position }) =>
    methods
      .filter((method) => {
        const found = rowOf(method)?.arguments.find(({ names }) => names.includes(name));
        // Odoo takes an argument of a search panel by name only.
        return found === undefined || found.form === 'free' ? name !== 'expand' : found.position !== position;
      })
      .map((method) => `${method} ${name}`),
  );
  expect(missing).toEqual([]);
});
