/**
 * Decides whether a policy allows the fields that a call names, and which fields a call that names none gets. Pure;
 * messages are for the caller.
 */
import type { FieldRule } from '@erp-proxy/contract';
import { type ArgumentPlace, type FieldUses, NAME_SEARCH, type UnnamedFields } from '@erp-proxy/odoo/fields';
import {
  type DeniedField,
  FieldCheck,
  type Known,
  type LackingTypes,
  NOTHING_KNOWN,
  type ShownOrder,
} from './check-fields.ts';
import { describeDeniedPath, PathCheck, type PathRules, type UnknownField } from './check-paths.ts';
import type { CompiledPolicy } from './compile.ts';
import type { FieldRules } from './field-rules.ts';

export interface FieldsRequest {
  model: string;
  method: string;
  /** Whether the policy names the model and the method without `*`. */
  isNamed: boolean;
  uses: FieldUses;
}

/**
 * A decision that is made in steps, because a call can name thousands of fields, and the server may have to be asked
 * many times. Yields the number of names checked since the previous step, so that other work can run in between.
 */
export type Steps<Decision> = Generator<number, Decision>;

/** Makes all steps at once. */
export function finish<Decision>(steps: Steps<Decision>): Decision {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export type FieldsDecision =
  /** `unknown`: the call is denied only because the server does not describe this field of a model that it may read. */
  | { kind: 'denied'; rule: string; message: string; unknown?: UnknownField | null }
  /** Allowed, unless one of these types, or an order that is not known yet, changes the decision. */
  | { kind: 'allowed'; lacking: Lacking };

export interface Lacking {
  types: LackingTypes;
  orders: boolean;
}

export function* decideFields(
  rules: FieldRules,
  request: FieldsRequest,
  known: Known,
): Steps<FieldsDecision> {
  const { model, method, isNamed, uses } = request;
  const [naming] = rules.listNaming(model);
  if (naming !== undefined && !uses.isKnown && !isNamed) {
    return deny(
      naming.name,
      `This key may not use all fields of \`${model}\`, and \`${method}\` is not known to keep to some: a key may call it only where its policy names both without \`*\`. Ask the operator.`,
    );
  }
  if (uses.unreadable !== null) {
    return deny(
      (naming ?? rules.all[0])?.name ?? 'fields',
      `This key may not use all fields, and which ones \`${uses.unreadable}\` names cannot be told. Name fields as Odoo does, and fewer in one call.`,
    );
  }
  if (naming !== undefined && uses.unknown !== null) {
    return deny(
      naming.name,
      `This key may not use all fields of \`${model}\`, and which ones \`${uses.unknown}\` of \`${method}\` names cannot be told. Leave it out.`,
    );
  }
  if (naming !== undefined && uses.unnamed?.canList === false)
    return denyUnnamed(naming.name, model, uses.unnamed);
  const check = new FieldCheck(rules, known);
  for (const use of uses.uses) {
    const denied = check.check(model, use);
    if (denied !== null) return denyField(denied, method);
    yield use.path.length;
  }
  return { kind: 'allowed', lacking: describeLacking(check) };
}

/** Decides whether the paths of a call lead only into models that the policy allows to read. */
export function* decidePaths(
  rules: PathRules,
  { model, uses: { uses, unreadable } }: Pick<FieldsRequest, 'model' | 'uses'>,
  known: Known,
): Steps<FieldsDecision> {
  if (unreadable !== null) {
    return deny(
      'models',
      `This key may not read fields of all models, and which ones \`${unreadable}\` leads to cannot be told. Name fields as Odoo does, and fewer in one call.`,
    );
  }
  const check = new PathCheck(rules, known.types);
  for (const use of uses) {
    const denied = check.check(model, use);
    if (denied !== null) {
      const rule = denied.used === 'credential' ? 'fields' : 'models';
      return { ...deny(rule, describeDeniedPath(denied)), unknown: denied.unknown ?? null };
    }
    yield use.path.length;
  }
  return { kind: 'allowed', lacking: { types: check.lacking, orders: false } };
}

/** Like {@link decidePaths}, but only by the names in the call, without types of fields. */
export function decideNamedPaths(
  policy: PathRules,
  request: Pick<FieldsRequest, 'model' | 'uses'>,
): FieldsDecision {
  return finish(decidePaths(policy, request, NOTHING_KNOWN));
}

/** Whether `limit_max` also bounds the related records of a field that the method names. */
export function limitsColumns(method: string | undefined): boolean {
  return method === 'export_data';
}

/** `export_data` gives the names of all records to which a column leads, so `limit_max` refuses columns of several. */
export function decideColumns(
  { policy: { limit_max: max } }: Pick<CompiledPolicy, 'policy'>,
  { model, method, uses: { uses } }: Pick<FieldsRequest, 'model' | 'method' | 'uses'>,
  known: Known,
): FieldsDecision {
  const lacking: LackingTypes = new Map();
  const columns = max === undefined || !limitsColumns(method) ? [] : uses.filter(({ isListed }) => isListed);
  for (const {
    path: [field = ''],
  } of columns) {
    const types = known.types.get(model);
    if (types === undefined) lacking.set(model, (lacking.get(model) ?? new Set()).add(field));
    else if (types.get(field)?.type.endsWith('2many'))
      return deny(
        'limit_max',
        `This key may read at most ${max} related records of a field for each record, and the column \`${field}\` gives the names of all of them. Leave it out, or read the field by \`web_read\` with a \`limit\`.`,
      );
  }
  return { kind: 'allowed', lacking: { types: lacking, orders: false } };
}

export type OrderDecision =
  | { kind: 'lacking'; lacking: Lacking }
  /** The records may come in the order of their model. */
  | { kind: 'kept' }
  /** The records are sorted by their ids, with this argument. */
  | { kind: 'by_id'; argument: ArgumentPlace }
  | { kind: 'denied'; rule: string; message: string };

/** Decides on the order of records that a call finds if the call gives no order. */
export function decideOrder(
  rules: FieldRules,
  { model, method, uses: { unordered } }: FieldsRequest,
  known: Known,
): OrderDecision {
  if (unordered === null) return { kind: 'kept' };
  const { argument } = unordered;
  const check = new FieldCheck(rules, known);
  const denied = argument === null ? check.checkFixedOrder(model) : check.checkOwnOrder(model);
  const lacking = describeLacking(check);
  if (lacking.orders || lacking.types.size > 0) return { kind: 'lacking', lacking };
  if (denied === null) return { kind: 'kept' };
  if (argument !== null) return { kind: 'by_id', argument };
  return denied === 'unknown' ? { kind: 'kept' } : denyField(denied, method);
}

function describeLacking({ lacking, lacksOrders }: FieldCheck): Lacking {
  return { types: lacking, orders: lacksOrders };
}

export type AllowedFields =
  | { kind: 'lacking'; lacking: Lacking }
  /** The call may stay as it is: all fields of its model are allowed. */
  | { kind: 'all' }
  | { kind: 'listed'; fields: readonly string[] }
  | { kind: 'denied'; rule: string; message: string };

/** Determines the fields that a call which names none may use. */
export function* listAllowedFields(
  rules: FieldRules,
  model: string,
  unnamed: UnnamedFields,
  known: Known,
): Steps<AllowedFields> {
  const types = known.types.get(model);
  if (types === undefined)
    return { kind: 'lacking', lacking: { types: new Map([[model, new Set()]]), orders: false } };
  const check = new FieldCheck(rules, known);
  const fields: string[] = [];
  let first: DeniedField | null = null;
  const listed = unnamed.isListed === true ? { isListed: true as const } : {};
  for (const field of types.keys()) {
    const denied = check.check(model, { path: [field], tail: unnamed.tail, ...listed });
    if (denied === null) fields.push(field);
    else first ??= denied;
    yield 1;
  }
  const lacking = describeLacking(check);
  if (lacking.orders || lacking.types.size > 0) return { kind: 'lacking', lacking };
  const naming = rules.listNaming(model);
  if (first === null && naming.length === 0) return { kind: 'all' };
  if (!unnamed.canList) return denyUnnamed((first?.rule ?? naming[0]!).name, model, unnamed);
  // An empty list stands for all fields.
  return { kind: 'listed', fields: fields.length === 0 ? ['id'] : fields };
}

/**
 * Leaves the fields with credentials out of those whose values a call gets that names none. `listed`: the fields that
 * the rules for fields allow.
 */
export function hideCredentials(
  { hiddenOf }: Pick<CompiledPolicy, 'hiddenOf'>,
  { model, uses: { unnamed } }: Pick<FieldsRequest, 'model' | 'uses'>,
  listed: AllowedFields,
  known: Known,
): AllowedFields {
  const hidden = hiddenOf(model);
  const isOpen = listed.kind === 'all' || listed.kind === 'listed';
  if (!isOpen || hidden.size === 0 || !returnsValues(unnamed)) return listed;
  if (!unnamed.canList) return denyUnnamed('fields', model, unnamed);
  const types = known.types.get(model);
  if (types === undefined)
    return { kind: 'lacking', lacking: { types: new Map([[model, new Set()]]), orders: false } };
  const fields = listed.kind === 'listed' ? listed.fields : [...types.keys()];
  const shown = fields.filter((field) => !hidden.has(field));
  return shown.length === fields.length ? listed : { kind: 'listed', fields: shown };
}

/** Whether a call that names no fields gets the values of all. Aggregates and descriptions show no credential. */
function returnsValues(unnamed: UnnamedFields | null): unnamed is UnnamedFields {
  return unnamed?.isListed === true;
}

/** The rules of a model, combined into one, for `keys explain`; null if no rule applies. */
export function describeFields(rules: FieldRules, model: string): FieldRule | null {
  const all = rules.listNaming(model).map(({ rule }) => rule);
  const allow = all.find((rule) => 'allow' in rule);
  if (all.length === 0 || allow !== undefined) return allow ?? null;
  return { deny: [...new Set(all.flatMap((rule) => ('deny' in rule ? rule.deny : [])))] };
}

function denyUnnamed(rule: string, model: string, { name }: UnnamedFields) {
  const advice =
    name === null
      ? 'the method returns all: read those that it may use'
      : `a call that names none stands for all: name the fields in \`${name}\``;
  return deny(rule, `This key may not use all fields of \`${model}\`, and ${advice}.`);
}

function denyField(denied: DeniedField, method: string) {
  const { rule, model, field, path, order } = denied;
  if (order !== null) return deny(rule.name, describeOrder(denied, order, method));
  const of = model === null ? 'a related record' : `\`${model}\``;
  if (field === NAME_SEARCH) {
    // The caller does not know the name of this marker.
    const named = path.filter((name) => name !== NAME_SEARCH).join('.');
    const at = named === '' ? '' : `, as \`${named}\` does,`;
    return deny(
      rule.name,
      `A search by name in ${of}${at} compares fields that this key may not use, or that are not known. Search by a domain of fields that it may use, or by ids.`,
    );
  }
  const named = path.join('.');
  const as = named === field ? '' : `, which \`${named}\` uses`;
  return deny(
    rule.name,
    `This key may not use the field \`${field}\` of ${of}${as}. Leave it out, or ask the operator to change \`${rule.name}\`.`,
  );
}

function describeOrder({ model, field, path }: DeniedField, { kind, model: of }: ShownOrder, method: string) {
  const named = path.join('.');
  const what = field === '' ? 'is not known' : `uses the field \`${field}\` of \`${model}\``;
  const because = `the order of \`${of}\`, which ${what}, and this key may not use ${field === '' ? 'all of its fields' : 'it'}`;
  switch (kind) {
    case 'sorted':
      return `Sorting by \`${named}\` follows ${because}. Sort by another field, or by \`${named}.id\` (Odoo 17 and later).`;
    case 'grouped':
      return `Groups by \`${named}\` follow ${because}. Group by another field, or give an order by a count or a sum to \`read_group\` with \`lazy: false\` or to \`formatted_read_group\`.`;
    case 'listed':
      return `The records in \`${named}\` follow ${because}. Search \`${of}\` with an order, or give one for the field in the specification of \`web_read\`.`;
    case 'own':
      return `\`${method}\` follows ${because}. Use \`search_read\` with an order.`;
  }
}

function deny(rule: string, message: string) {
  return { kind: 'denied' as const, rule, message };
}
