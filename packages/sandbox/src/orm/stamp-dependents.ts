/**
 * Recomputes stored computed fields: Odoo computes them when a row is written, and writes them into rows of other
 * models too, so that these rows get a new `write_date` although no call wrote them. A transaction does not update rows
 * that it does not see: they keep the old value. Rows of the initial data have no stored values until they are written.
 */
import type { Json } from '../json/value.ts';
import type { Environment, Field, Model } from './model.ts';
import type { Row } from './row.ts';

/** A stored field of `model` that depends on fields of another model through `link`. */
interface Dependent {
  readonly model: Model;
  readonly link: Field;
  readonly sources: ReadonlySet<string>;
}

/**
 * Stamps the rows with stored values that depend on the row of `model`. `names`: the fields that changed. `isGone`: the
 * row is about to be deleted; as in PostgreSQL's cascades, rows that refer to it are not stamped.
 */
export function stampDependents(
  environment: Environment,
  model: Model,
  row: Row,
  names: readonly string[],
  stamp: Row,
  isGone = false,
): void {
  for (const { model: other, link, sources } of listDependents(environment, model)) {
    if (!names.some((name) => sources.has(name))) continue;
    const { store } = environment;
    if (link.type === 'one2many') {
      const owner = store.get(other.name, row[link.inverse!] as number);
      if (owner)
        store.put(
          other.name,
          owner['id'] as number,
          computeStored(environment, other, { ...owner, ...stamp }),
        );
    } else if (!isGone) {
      for (const linked of store.table(other.name).where(link.name, row['id'] as number))
        store.put(
          other.name,
          linked['id'] as number,
          computeStored(environment, other, { ...linked, ...stamp }),
        );
    }
  }
}

/** The row with the values of its stored computed fields, as the transaction sees them now. */
export function computeStored(environment: Environment, model: Model, row: Row): Row {
  const values: Record<string, Json> = {};
  for (const { name, compute, storedFrom } of model.fields.values()) {
    if (compute !== undefined && storedFrom !== undefined) values[name] = compute(environment, row);
  }
  return { ...row, ...values };
}

const known = new WeakMap<ReadonlyMap<string, Model>, Map<string, Dependent[]>>();

function listDependents({ models }: Environment, model: Model): readonly Dependent[] {
  let all = known.get(models);
  if (!all) {
    all = findDependents(models);
    known.set(models, all);
  }
  return all.get(model.name) ?? [];
}

function findDependents(models: ReadonlyMap<string, Model>): Map<string, Dependent[]> {
  const found = new Map<string, Dependent[]>();
  for (const model of models.values()) {
    const sources = new Map<string, Set<string>>();
    for (const field of model.fields.values()) {
      for (const path of field.storedFrom ?? []) {
        const [link = '', source] = path.split('.');
        if (source) sources.set(link, (sources.get(link) ?? new Set()).add(source));
      }
    }
    for (const [name, names] of sources) {
      const link = model.fields.get(name);
      if (!link?.relation) continue;
      const dependents = found.get(link.relation) ?? [];
      found.set(link.relation, [...dependents, { model, link, sources: names }]);
    }
  }
  return found;
}
