/**
 * Builds the models of one version: the magic fields, the methods of every model, and the differences of the version.
 */
import type { VersionDefinition } from '../versions/version-definition.ts';
import { char, datetime, integer, many2one } from './field.ts';
import { baseMethods } from './methods/base-methods.ts';
import type { Field, FieldSpec, Method, Model, ModelSpec } from './model.ts';

export function buildModels(specs: readonly ModelSpec[], personality: VersionDefinition): Map<string, Model> {
  const models = new Map<string, Model>();
  for (const spec of specs) {
    if (!personality.absentModels.includes(spec.name))
      models.set(spec.name, buildModel(spec, specs, personality));
  }
  return models;
}

function buildModel(spec: ModelSpec, specs: readonly ModelSpec[], personality: VersionDefinition): Model {
  const className = spec.name.replace(/(^|[._])(\w)/g, (_, __, letter: string) => letter.toUpperCase());
  const order = personality.orders[spec.name];
  return {
    ...spec,
    ...(order === undefined ? {} : { order }),
    className,
    fields: buildFields(spec, specs, personality),
    methods: buildMethods(spec, personality, className),
  };
}

const id = integer('ID', { readonly: true });
const displayName = char('Display Name', { readonly: true, compute: () => null });
const logFields: Record<string, FieldSpec> = {
  create_uid: many2one('Created by', 'res.users', { readonly: true }),
  create_date: datetime('Created on', { readonly: true }),
  write_uid: many2one('Last Updated by', 'res.users', { readonly: true }),
  write_date: datetime('Last Updated on', { readonly: true }),
};

function buildFields(
  spec: ModelSpec,
  specs: readonly ModelSpec[],
  personality: VersionDefinition,
): Map<string, Field> {
  const versioned = personality.fields[spec.name] ?? {};
  const log = spec.logAccess === false ? {} : logFields;
  const everywhere = personality.fields['*'] ?? {};
  // A key keeps its first position: fields that a version changes stay in place, fields that it adds come last.
  const all: Record<string, FieldSpec | undefined> = personality.magicFieldsFirst
    ? { id, display_name: displayName, ...spec.fields, ...log, ...spec.lateFields, ...versioned }
    : {
        ...spec.fields,
        id,
        ...everywhere,
        display_name: displayName,
        ...log,
        ...spec.lateFields,
        ...versioned,
      };
  const fields = new Map<string, Field>();
  for (const [name, field] of Object.entries(all)) if (field) fields.set(name, { name, ...field });
  for (const [name, field] of listInherited(spec, specs, personality))
    if (!(name in all)) fields.set(name, field);
  return fields;
}

/** The fields of the record that the model inherits from, as related fields of the model. */
function listInherited(
  { inherits: link = '', fields }: ModelSpec,
  specs: readonly ModelSpec[],
  personality: VersionDefinition,
): [string, Field][] {
  const parent = specs.find(({ name }) => name === fields[link]?.relation);
  if (!parent) return [];
  const inherited = [...buildFields(parent, specs, personality)];
  // Leaves out the hierarchy of the inherited model, which is none of this model.
  return inherited
    .filter(([, { relation }]) => relation !== parent.name)
    .map(([name, field]) => {
      const { compute: _, storedFrom: __, default: ___, store: ____, ...shared } = field;
      return [name, { ...shared, related: `${link}.${name}` }];
    });
}

function buildMethods(
  spec: ModelSpec,
  personality: VersionDefinition,
  className: string,
): Map<string, Method> {
  const methods = new Map<string, Method>();
  const all: Record<string, Method> = { ...baseMethods, ...spec.methods };
  for (const [name, method] of Object.entries(all)) {
    const changed = { ...method };
    let isAbsent = false;
    for (const key of [name, `${spec.name}/${name}`]) {
      if (!(key in personality.methods)) continue;
      const change = personality.methods[key];
      isAbsent = change === undefined;
      Object.assign(changed, change);
    }
    if (!isAbsent) methods.set(name, { ...changed, owner: changed.owner.replace('$class', className) });
  }
  return methods;
}
