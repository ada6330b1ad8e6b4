/** Methods that change records: create, write, unlink, copy, archive. */
import { type Json, toNumber } from '../../json/value.ts';
import { valueError } from '../fault.ts';
import type { Call, Method } from '../model.ts';
import { nameRow, showValue } from '../values.ts';
import { copyRow, createRow, fillDefaults, recordMissing, unlinkRows, writeRows } from '../write.ts';

const owner = 'BaseModel';

export const recordMethods: Readonly<Record<string, Method>> = {
  create: {
    owner: '$class',
    kind: 'create',
    parameters: 'vals_list',
    run: ({ environment, model, values }) => {
      const rows = values['vals_list'] ?? values['vals'] ?? null;
      return (Array.isArray(rows) ? rows : [rows]).map((row) => createRow(environment, model, row));
    },
  },
  write: {
    owner: '$class',
    kind: 'record',
    parameters: 'vals',
    run: (call) => {
      writeRows(
        call.environment,
        call.model,
        listIds(call),
        call.values['vals'] ?? call.values['values'] ?? {},
      );
      return true;
    },
  },
  unlink: {
    owner,
    kind: 'record',
    parameters: '',
    run: (call) => {
      unlinkRows(call.environment, call.model, listIds(call));
      return true;
    },
  },
  copy: {
    owner,
    kind: 'record',
    parameters: 'default=None',
    run: (call) => {
      const { environment, model, values } = call;
      const ids = listIds(call);
      if (environment.personality.copyIsList)
        return ids.map((id) => copyRow(environment, model, id, values['default'] ?? null));
      return copyRow(environment, model, ensureOne(call), values['default'] ?? null);
    },
  },
  name_create: {
    owner,
    kind: 'model',
    parameters: 'name',
    run: ({ environment, model, values }) => {
      const id = createRow(environment, model, { [model.recName ?? 'name']: values['name'] ?? false });
      return [id, nameRow(environment, model, environment.store.get(model.name, id) ?? { id })];
    },
  },
  default_get: {
    owner,
    kind: 'model',
    parameters: 'fields_list',
    run: ({ environment, model, values }) => {
      const row = fillDefaults(environment, model, {});
      const asked = (values['fields_list'] ?? values['fields'] ?? []) as readonly string[];
      const shown: Record<string, Json> = {};
      for (const name of asked) {
        const field = model.fields.get(name);
        if (field && name in row) shown[name] = showValue(environment, model, row, field, false);
      }
      return shown;
    },
  },
  action_archive: { owner, kind: 'record', parameters: '', run: (call) => setActive(call, () => false) },
  action_unarchive: { owner, kind: 'record', parameters: '', run: (call) => setActive(call, () => true) },
  toggle_active: {
    owner,
    kind: 'record',
    parameters: '',
    run: (call) => setActive(call, (active) => !active),
  },
};

export function listIds(call: Call): number[] {
  return call.ids.map((id) => toNumber(id) ?? -1);
}

export function ensureOne(call: Call): number {
  const ids = listIds(call);
  const [id] = ids;
  if (ids.length === 1 && id !== undefined) return id;
  throw valueError(`Expected singleton: ${call.model.name}(${ids.join(', ')})`);
}

/** The row of each id of the call; throws Odoo's MissingError if an id has none. */
export function listRows(call: Call) {
  return listIds(call).map((id) => {
    const row = call.environment.store.get(call.model.name, id);
    if (!row) throw recordMissing(call.environment, call.model, id);
    return row;
  });
}

function setActive(call: Call, next: (active: boolean) => boolean): undefined {
  for (const row of listRows(call)) {
    writeRows(call.environment, call.model, [row['id'] as number], { active: next(row['active'] !== false) });
  }
}
