/**
 * Creates the data of a small company. Each reset restores the data. The package README lists the ids that tests use.
 */
import type { Json } from '../json/value.ts';
import { printTime } from '../orm/environment.ts';
import type { Model } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import { Store } from '../orm/store.ts';
import { crm, mail, products, reports, sales } from './business.ts';
import { GeneratedRows } from './generated-rows.ts';
import { companies, contacts } from './partners.ts';
import type { Seed } from './seed.ts';
import { people, world } from './world.ts';

/** When all rows were created. */
export const seededMs = Date.UTC(2026, 10, 21, 1, 30, 31);
const seededAt = printTime(seededMs);

/** `more`: rows that depend on the options of this sandbox. `generated`: number of further rows by model. */
export function seedStore(
  models: ReadonlyMap<string, Model>,
  more: Seed = {},
  generated: Readonly<Record<string, number>> = {},
): Store {
  const store = new Store();
  store.transact(() => {
    for (const part of [world, people, companies, contacts, products, sales, reports, crm, mail, more]) {
      for (const [model, rows] of Object.entries(part)) putRows(store, models, model, rows);
    }
    describeModels(store, models);
  });
  for (const [name, count] of Object.entries(generated)) {
    const model = models.get(name);
    if (!model) throw new Error(`Rows of ${name} cannot be generated: there is no such model.`);
    store.putBelow(name, (firstId) => new GeneratedRows(model, firstId, count, seededMs));
  }
  return store;
}

function putRows(store: Store, models: ReadonlyMap<string, Model>, name: string, rows: readonly Row[]): void {
  const model = models.get(name);
  if (!model) return;
  const log =
    model.logAccess === false
      ? {}
      : { create_uid: 1, create_date: seededAt, write_uid: 1, write_date: seededAt };
  const defaults: Record<string, Json> = {};
  for (const field of model.fields.values()) {
    if (field.default !== undefined && typeof field.default !== 'function')
      defaults[field.name] = field.default;
  }
  for (const row of rows) {
    const id = (row['id'] as number | undefined) ?? store.nextId(name);
    store.put(name, id, { ...log, ...defaults, ...row, id });
  }
}

/** Fills ir.model and ir.model.fields: the models themselves, and enough columns of an archive for a large read. */
function describeModels(store: Store, models: ReadonlyMap<string, Model>): void {
  let fieldId = 0;
  const addModel = (id: number, name: string, label: string) =>
    putRows(store, models, 'ir.model', [{ id, model: name, name: label }]);
  const addField = (row: Row) => {
    fieldId++;
    putRows(store, models, 'ir.model.fields', [
      {
        id: fieldId,
        state: 'base',
        create_uid: null,
        create_date: null,
        write_uid: null,
        write_date: null,
        ...row,
      },
    ]);
  };
  let modelId = 0;
  for (const model of models.values()) {
    modelId++;
    addModel(modelId, model.name, model.description);
    for (const field of model.fields.values()) {
      addField({
        name: field.name,
        model: model.name,
        model_id: modelId,
        field_description: field.string,
        ttype: field.type,
        relation: field.relation ?? null,
        relation_field: field.inverse ?? null,
        required: field.required === true,
        readonly: field.readonly === true,
        translate: field.translate === true,
        store: !field.compute || field.storedFrom !== undefined,
        copied: field.copy !== false,
        on_delete: field.ondelete ?? null,
        selection: field.selection
          ? `[${field.selection.map(([key, label]) => `('${key}', '${label}')`).join(', ')}]`
          : null,
      });
    }
  }
  for (let archive = 1; fieldId < 2600; archive++) {
    modelId++;
    addModel(modelId, `x_archive.y${archive}`, `Archive ${archive}`);
    for (let column = 1; column <= 100; column++) {
      addField({
        name: `x_column_${column}`,
        model: `x_archive.y${archive}`,
        model_id: modelId,
        field_description: `Column ${column} — größe ${archive}`,
        ttype: 'char',
        state: 'manual',
      });
    }
  }
}
