/** The x2many commands 0 to 6 of a one2many or many2many field. */

import { printPython } from '../json/print-python.ts';
import { isObject, type Json, toNumber } from '../json/value.ts';
import { typeError, valueError } from './fault.ts';
import type { Environment, Field, Model } from './model.ts';
import { getValue } from './values.ts';

/**
 * Functions that change rows of the related model, with access rights and constraints. They are passed in because
 * write.ts imports this file.
 */
export interface RowWriter {
  create(environment: Environment, model: Model, values: Json): number;
  write(environment: Environment, model: Model, ids: readonly number[], values: Json): void;
  unlink(environment: Environment, model: Model, ids: readonly number[]): void;
}

export function runCommands(
  writer: RowWriter,
  environment: Environment,
  model: Model,
  id: number,
  field: Field,
  value: Json,
): void {
  if (value === false || value === null) return;
  if (!Array.isArray(value)) {
    const shown = typeof value === 'string' ? value : printPython(value);
    throw valueError(`Wrong value for ${model.name}.${field.name}: ${shown}`);
  }
  const links =
    field.type === 'one2many'
      ? linkLines(writer, environment, model, id, field)
      : linkMany(writer, environment, model, id, field);
  const relation = environment.model(field.relation!);
  // A list of plain ids stands for one "set" command.
  const commands =
    value.every((item) => toNumber(item) !== undefined) && value.length > 0 ? [[6, 0, value]] : value;
  for (const command of commands) {
    // Odoo takes the object for an id and adds it to a set.
    if (isObject(command)) throw typeError("unhashable type: 'dict'").at('odoo/fields.py', 'write_real');
    if (!Array.isArray(command))
      throw valueError(`Wrong value for ${model.name}.${field.name}: ${printPython(value)}`);
    const target = toNumber(command[1]) ?? 0;
    const payload = command[2] ?? {};
    switch (toNumber(command[0])) {
      case 0:
        links.add(links.create(payload));
        break;
      case 1:
        writer.write(environment, relation, [target], payload);
        break;
      case 2:
        links.remove(target);
        if (environment.store.get(relation.name, target)) writer.unlink(environment, relation, [target]);
        break;
      case 3:
        links.remove(target);
        break;
      case 4:
        links.add(target);
        break;
      case 5:
        for (const linked of links.list()) links.remove(linked);
        break;
      case 6: {
        const wanted = Array.isArray(payload) ? payload.map((item) => toNumber(item) ?? 0) : [];
        for (const linked of links.list()) if (!wanted.includes(linked)) links.remove(linked);
        for (const linked of wanted) links.add(linked);
        break;
      }
      // Odoo ignores commands with other numbers.
    }
  }
}

interface Links {
  list(): readonly number[];
  create(values: Json): number;
  add(id: number): void;
  remove(id: number): void;
}

function linkMany(
  writer: RowWriter,
  environment: Environment,
  model: Model,
  id: number,
  field: Field,
): Links {
  const row = () => environment.store.get(model.name, id) ?? { id };
  const list = () => getValue(environment, model, row(), field) as number[];
  const set = (ids: readonly number[]) =>
    environment.store.put(model.name, id, { ...row(), [field.name]: ids });
  return {
    list,
    create: (values) => writer.create(environment, environment.model(field.relation!), values),
    add: (linked) => set([...new Set([...list(), linked])]),
    remove: (linked) => set(list().filter((other) => other !== linked)),
  };
}

function linkLines(
  writer: RowWriter,
  environment: Environment,
  model: Model,
  id: number,
  field: Field,
): Links {
  const relation = environment.model(field.relation!);
  const inverse = field.inverse!;
  const owner = { [inverse]: id, ...(field.inverseModel && { [field.inverseModel]: model.name }) };
  const isRequired = relation.fields.get(inverse)?.required === true;
  return {
    list: () =>
      getValue(environment, model, environment.store.get(model.name, id) ?? { id }, field) as number[],
    create: (values) => writer.create(environment, relation, { ...(values as object), ...owner }),
    add: (linked) => {
      if (environment.store.get(relation.name, linked)?.[inverse] !== id)
        writer.write(environment, relation, [linked], owner);
    },
    remove: (linked) => {
      if (isRequired) writer.unlink(environment, relation, [linked]);
      else writer.write(environment, relation, [linked], { [inverse]: false });
    },
  };
}
