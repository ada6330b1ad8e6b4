/** The search panel of Odoo's web client: the values of a field by which its user can restrict a search. */
import { isObject, isTrue, type Json, type JsonObject, toNumber } from '../../json/value.ts';
import { keyError, userError } from '../fault.ts';
import { listGroups } from '../group-rows.ts';
import { joinDomains } from '../join-domains.ts';
import type { Call, Environment, Field, FieldType, Method, Model } from '../model.ts';
import { readRows } from '../read.ts';
import { countRows, searchIds } from '../search.ts';

export const panelMethods: Readonly<Record<string, Method>> = {
  search_panel_select_range: {
    owner: 'Base',
    kind: 'model',
    parameters: 'field_name, **kwargs',
    run: (call) => selectRange(readPanel(call, 'category', ['many2one', 'selection'])),
  },
  search_panel_select_multi_range: {
    owner: 'Base',
    kind: 'model',
    parameters: 'field_name, **kwargs',
    run: (call) => selectMultiRange(readPanel(call, 'filter', ['many2one', 'many2many', 'selection'])),
  },
};

type Domain = readonly Json[];

interface Panel {
  readonly environment: Environment;
  readonly model: Model;
  readonly field: Field;
  /** The arguments by name. */
  readonly values: JsonObject;
  /** The domain of the records whose values are shown. */
  readonly modelDomain: Domain;
  /** An additional domain for the records that are counted. */
  readonly extraDomain: Domain;
  /** The domain of the related records that are shown as values. */
  readonly comodelDomain: Domain;
  readonly countsRecords: boolean;
  /** True: values without records are shown too. */
  readonly isExpanded: boolean;
  readonly limit: number | undefined;
}

/** A value of the field. */
interface PanelValue {
  readonly id: Json;
  readonly name: Json;
  readonly count: number;
}

const PARENT = 'parent_id';
const TOO_MANY: JsonObject = { error_msg: 'Too many items to display.' };
const UNSET = 'Not Set';

function readPanel({ environment, model, values }: Call, kind: string, types: readonly FieldType[]): Panel {
  const name = String(values['field_name']);
  const field = model.fields.get(name);
  if (!field) throw keyError(name);
  if (!types.includes(field.type)) {
    throw userError(`Only types ${types.join(', ')} are supported for ${kind} (found type ${field.type})`);
  }
  const domain = (argument: string) => readDomain(environment, values[argument]);
  return {
    environment,
    model,
    field,
    values,
    modelDomain: domain('search_domain'),
    extraDomain: joinDomains([domain('category_domain'), domain('filter_domain')]),
    comodelDomain: domain('comodel_domain'),
    countsRecords: isTrue(values['enable_counters']),
    isExpanded: isTrue(values['expand']),
    limit: toNumber(values['limit']) || undefined,
  };
}

function readDomain(environment: Environment, domain: Json | undefined): Domain {
  if (!domain) return [];
  if (!Array.isArray(domain)) throw environment.personality.texts.domainNotList(domain);
  return domain;
}

/**
 * Answers for a panel in which one value can be chosen. Records of a model with a parent come with all their parents.
 */
function selectRange(panel: Panel): JsonObject {
  const { environment, field, values, limit, isExpanded, comodelDomain } = panel;
  if (field.type === 'selection') return { parent_field: false, values: listChoices(panel) };
  const related = environment.model(field.relation!);
  const hasParents = isHierarchical(values) && related.fields.has(PARENT);
  const parentField = hasParents ? PARENT : false;
  const readsRecords = isExpanded || hasParents || comodelDomain.length > 0;
  const image = listImage(panel, readsRecords ? undefined : limit);
  if (!readsRecords) {
    if (limit === image.size) return TOO_MANY;
    return { parent_field: parentField, values: [...image.values()].map((value) => showValue(panel, value)) };
  }
  const ids = [...image.keys()];
  const found = readRelated(
    panel,
    related,
    hasParents ? [PARENT] : [],
    isExpanded ? null : ['id', hasParents ? 'parent_of' : 'in', ids],
  );
  const records = hasParents ? keepWholeChains(found, isExpanded ? found.map(readId) : ids) : found;
  if (limit === records.length) return TOO_MANY;
  const shown = new Map(
    records.map((record) => {
      const id = readId(record);
      const count = image.get(id)?.count ?? 0;
      const parent = hasParents ? { [PARENT]: readParent(record) ?? false } : {};
      return [id, { id, name: record['display_name'] ?? false, count, parent }];
    }),
  );
  const totals = hasParents ? addToParents(shown) : undefined;
  return {
    parent_field: parentField,
    values: [...shown.values()].map(({ parent, ...value }) => ({
      id: value.id,
      display_name: value.name,
      ...parent,
      ...(panel.countsRecords && { __count: totals?.get(value.id) ?? value.count }),
    })),
  };
}

/** Answers for a panel in which several values can be chosen. Related records can be grouped by one of their fields. */
function selectMultiRange(panel: Panel): JsonObject {
  const { environment, field, values, limit, isExpanded, comodelDomain } = panel;
  const groupDomain = values['group_domain'] ?? null;
  const isMany = field.type === 'many2many';
  const all = isMany
    ? panel
    : {
        ...panel,
        extraDomain: joinDomains([panel.extraDomain, readDomain(environment, groupDomain)]),
      };
  if (field.type === 'selection') return { values: listChoices(all) };
  const related = environment.model(field.relation!);
  const groupBy = values['group_by'] ? readGroupField(related, String(values['group_by'])) : undefined;
  const readsRecords = isMany || isExpanded || groupBy !== undefined || comodelDomain.length > 0;
  const image =
    isMany && isExpanded ? new Map<Json, PanelValue>() : listImage(all, readsRecords ? undefined : limit);
  if (!readsRecords) {
    if (limit === image.size) return TOO_MANY;
    return { values: [...image.values()].map((value) => showValue(panel, value)) };
  }
  const condition: Json = isExpanded ? null : ['id', 'in', [...image.keys()]];
  const records = readRelated(panel, related, groupBy === undefined ? [] : [groupBy.name], condition);
  if (limit === records.length) return TOO_MANY;
  return {
    values: records.map((record) => {
      const id = readId(record);
      const [groupId, groupName] =
        groupBy === undefined ? [] : nameGroup(groupBy, record[groupBy.name] ?? false);
      const group =
        groupBy === undefined ? {} : { group_id: groupId ?? false, group_name: groupName ?? false };
      const count = isMany ? countLinked(panel, id, groupId, groupDomain) : (image.get(id)?.count ?? 0);
      return {
        id,
        display_name: record['display_name'] ?? false,
        ...group,
        ...(panel.countsRecords && { __count: count }),
      };
    }),
  };
}

/** Whether parents are shown. As in Python, an omitted argument is true, an empty one is false. */
function isHierarchical(values: JsonObject): boolean {
  return !('hierarchize' in values) || isTrue(values['hierarchize']);
}

function showValue({ countsRecords }: Panel, { id, name, count }: PanelValue): JsonObject {
  return { id, display_name: name, ...(countsRecords && { __count: count }) };
}

/** The choices of a selection field. */
function listChoices(panel: Panel): JsonObject[] {
  const image = listImage(panel, undefined);
  if (!panel.isExpanded) return [...image.values()].map((value) => showValue(panel, value));
  return (panel.field.selection ?? []).map(([id, name]) =>
    showValue(panel, { id, name, count: image.get(id)?.count ?? 0 }),
  );
}

/** The values that the field has in the records of `modelDomain`, with the number of counted records for each value. */
function listImage(panel: Panel, limit: number | undefined): Map<Json, PanelValue> {
  const { modelDomain, extraDomain, isExpanded } = panel;
  const counted = listValues(panel, joinDomains([modelDomain, extraDomain]));
  if (isExpanded || extraDomain.length === 0) return new Map([...counted].slice(0, limit));
  const all = [...listValues(panel, modelDomain)].slice(0, limit);
  return new Map(all.map(([id, value]) => [id, { ...value, count: counted.get(id)?.count ?? 0 }]));
}

function listValues({ environment, model, field }: Panel, domain: Domain): Map<Json, PanelValue> {
  const set = joinDomains([domain, [[field.name, '!=', false]]]);
  const labels = new Map<Json, string>(field.selection ?? []);
  const groups = listGroups(environment, model, set, [field.name], false);
  return new Map(
    groups.map(({ keys, rows }) => {
      const label = keys[0]?.label ?? false;
      const [id, name] = Array.isArray(label) ? (label as Json[]) : [label, labels.get(label) ?? label];
      return [id as Json, { id: id as Json, name: name as Json, count: rows.length }];
    }),
  );
}

/** The related records that the panel shows, in the order of their model. */
function readRelated(
  { environment, comodelDomain, limit }: Panel,
  related: Model,
  fields: readonly string[],
  condition: Json,
): JsonObject[] {
  const domain = joinDomains([comodelDomain, condition === null ? [] : [condition]]);
  const ids = searchIds(environment, related, domain, { limit: limit ?? null });
  return readRows(environment, related, ids, ['display_name', ...fields]);
}

/** For a many2many field: the number of counted records that are linked to the related record. */
function countLinked(
  { environment, model, field, modelDomain, extraDomain, countsRecords }: Panel,
  id: Json,
  groupId: Json | undefined,
  groupDomain: Json,
): number {
  if (!countsRecords) return 0;
  const ofGroup =
    groupId !== undefined && isObject(groupDomain) ? groupDomain[JSON.stringify(groupId)] : undefined;
  const own = readDomain(environment, ofGroup);
  const domain = joinDomains([modelDomain, [[field.name, 'in', [id]]], extraDomain, own]);
  return countRows(environment, model, domain);
}

function readGroupField(related: Model, name: string): Field {
  const field = related.fields.get(name);
  if (!field) throw keyError(name);
  return field;
}

/** Id and name of the group to which a related record belongs. */
function nameGroup(field: Field, value: Json): [id: Json, name: Json] {
  if (field.type === 'many2one')
    return Array.isArray(value) ? [value[0] as Json, value[1] as Json] : [false, UNSET];
  if (field.type === 'selection') {
    const labels = new Map<Json, string>(field.selection ?? []);
    return [value, labels.get(value) ?? UNSET];
  }
  return isTrue(value) ? [value, value] : [false, UNSET];
}

function readId(record: JsonObject): number {
  return record['id'] as number;
}

function readParent(record: JsonObject): number | undefined {
  const value = record[PARENT];
  return Array.isArray(value) ? (value[0] as number) : undefined;
}

/** Keeps the records whose parents, up to the root, are all among the records. */
function keepWholeChains(records: readonly JsonObject[], ids: readonly Json[]): JsonObject[] {
  const known = new Map<Json, JsonObject>(records.map((record) => [readId(record), record]));
  const kept = new Set<Json>();
  for (const id of ids) {
    const chain: Json[] = [];
    let at: Json | undefined = id;
    while (at !== undefined && known.has(at) && !chain.includes(at)) {
      chain.push(at);
      at = readParent(known.get(at)!);
    }
    if (at === undefined) for (const each of chain) kept.add(each);
  }
  return records.filter((record) => kept.has(readId(record)));
}

/** Adds the number of records of each value to the numbers of all its parents. */
function addToParents(
  shown: ReadonlyMap<Json, { count: number; parent: JsonObject }>,
): ReadonlyMap<Json, number> {
  const totals = new Map<Json, number>();
  for (const [id, { count }] of shown) {
    let at: Json | undefined = id;
    while (at !== undefined && at !== false) {
      totals.set(at, (totals.get(at) ?? 0) + count);
      at = shown.get(at)?.parent[PARENT];
    }
  }
  return totals;
}
