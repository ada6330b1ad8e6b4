/** Grouping: read_group (deprecated in 19), formatted_read_group from 19 on, and the wrapper for the web client. */
import { printPython } from '../../json/print-python.ts';
import { Float, isTrue, type Json, type JsonObject } from '../../json/value.ts';
import { aggregateRows, parseAggregate } from '../aggregate-rows.ts';
import { type Group, type GroupKey, listGroups } from '../group-rows.ts';
import { joinDomains, normalizeDomain } from '../join-domains.ts';
import type { Call, Method } from '../model.ts';
import { pageOf } from '../search.ts';

const owner = 'BaseModel';

export const groupMethods: Readonly<Record<string, Method>> = {
  read_group: {
    owner,
    kind: 'model',
    parameters: 'domain, fields, groupby, offset=0, limit=None, orderby=False, lazy=True',
    readonly: true,
    run: (call) => readGroup(call),
  },
  web_read_group: {
    owner: 'Base',
    kind: 'model',
    parameters: 'domain, fields, groupby, limit=None, offset=0, orderby=False, lazy=True',
    readonly: true,
    run: (call) => {
      const isFormatted = 'aggregates' in call.values;
      const everything = { ...call, values: { ...call.values, limit: null, offset: 0 } };
      const groups = isFormatted ? formatGroups(call, ['__count']) : readGroup(call);
      return { groups, length: (isFormatted ? formatGroups(everything) : readGroup(everything)).length };
    },
  },
  formatted_read_group: {
    owner: 'Base',
    kind: 'model',
    parameters: 'domain, groupby=(), aggregates=(), having=(), offset=0, limit=None, order=None',
    readonly: true,
    run: (call) => formatGroups(call),
  },
  read_progress_bar: {
    owner: 'Base',
    kind: 'model',
    parameters: 'domain, group_by, progress_bar',
    readonly: true,
    run: (call) => countProgress(call),
  },
  formatted_read_grouping_sets: {
    owner: 'Base',
    kind: 'model',
    parameters: 'domain, grouping_sets, aggregates=(), *, order=None',
    readonly: true,
    run: (call) =>
      listOf(call.values['grouping_sets']).map((groupby) =>
        formatGroups({ ...call, values: { ...call.values, groupby } }),
      ),
  },
};

function readGroup(call: Call): JsonObject[] {
  const { environment, model, values } = call;
  const asked = listOf(values['groupby']).map(String);
  const isLazy = isTrue(values['lazy']) && asked.length > 0;
  const specs = isLazy ? asked.slice(0, 1) : asked;
  const names = specs.map((spec) => spec.split(':')[0] ?? '');
  // Web clients list the count too, and Odoo skips it.
  const aggregates = listOf(values['fields'])
    .filter((text) => text !== '__count')
    .map((text) => parseAggregate(environment, model, String(text)))
    .filter((aggregate) => aggregate !== undefined && !names.includes(aggregate.member));
  const countName =
    isLazy && asked.length === 1 ? `${names[0]}_count` : isLazy ? `${names[0]}_count` : '__count';
  const groups = listGroups(environment, model, values['domain'] ?? [], specs, values['orderby'] ?? false);
  return pageOf(environment, groups, values).map((group) => {
    const sums: Record<string, Json> = { [countName]: group.rows.length };
    for (const aggregate of aggregates)
      sums[aggregate!.member] = aggregateRows(environment, model, group.rows, aggregate!);
    const keys = Object.fromEntries(group.keys.map((key) => [key.spec, key.label]));
    const own = listOf(values['domain']);
    const domains = group.keys.map((key) => key.domain);
    const { readGroupKeysFirst, readGroupRange } = environment.personality;
    const domain = {
      __domain: combineDomains(call, readGroupKeysFirst ? [own, ...domains] : [...domains, own]),
    };
    const ranges = group.keys.filter((key) => key.range);
    const nameRange = ({ spec }: GroupKey) =>
      readGroupRange === 'after_domain' ? spec.replace(/:.*/, '') : spec;
    const range =
      ranges.length > 0 && readGroupRange !== 'absent'
        ? { __range: Object.fromEntries(ranges.map((key) => [nameRange(key), key.range!])) }
        : {};
    const rest = isLazy && asked.length > 1 ? { __context: { group_by: asked.slice(1) } } : {};
    if (readGroupRange === 'after_domain') return { ...sums, ...keys, ...domain, ...range, ...rest };
    return readGroupKeysFirst
      ? { ...keys, ...sums, ...domain, ...range, ...rest }
      : { ...sums, ...keys, ...range, ...domain, ...rest };
  });
}

/** By group: the number of records with each of the listed values of a field. */
function countProgress(call: Call): JsonObject {
  const { environment, model, values } = call;
  const bar = values['progress_bar'] as JsonObject;
  const colors = Object.keys(bar['colors'] as JsonObject);
  const specs = [String(values['group_by']), String(bar['field'])];
  const counts: Record<string, Record<string, number>> = {};
  for (const { keys, rows } of listGroups(environment, model, values['domain'] ?? [], specs, false)) {
    const [label = false, value = false] = keys.map((key) => key.label);
    const key = Array.isArray(label) ? (label[0] as Json) : label;
    const name = typeof key === 'string' ? key : printPython(key);
    const own = counts[name] ?? Object.fromEntries(colors.map((color) => [color, 0]));
    counts[name] = own;
    if (String(value) in own) own[String(value)]! += rows.length;
  }
  return counts;
}

function formatGroups(call: Call, extra: readonly string[] = []): JsonObject[] {
  const { environment, model, values } = call;
  const specs = listOf(values['groupby']).map(String);
  const aggregates = [...listOf(values['aggregates']).map(String), ...extra];
  const groups = listGroups(environment, model, values['domain'] ?? [], specs, values['order'] ?? false);
  return pageOf(environment, groups, values).map((group) => ({
    ...Object.fromEntries(
      group.keys.map((key) => [key.spec, key.range ? [key.range['from'] ?? false, key.label] : key.label]),
    ),
    __extra_domain: combineDomains(
      call,
      group.keys.map((key) => key.domain),
    ),
    ...Object.fromEntries(aggregates.map((text) => [text, formatAggregate(call, group, text)])),
  }));
}

function formatAggregate(call: Call, group: Group, text: string): Json {
  if (text === '__count') return group.rows.length;
  const aggregate = parseAggregate(call.environment, call.model, text);
  return aggregate ? aggregateRows(call.environment, call.model, group.rows, aggregate) : new Float(0);
}

function listOf(value: Json | undefined): readonly Json[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value : [];
}

/**
 * Combines domains by Odoo's AND. Up to 18, a domain with several items stays nested; 19 makes one flat list of `&`.
 */
function combineDomains(call: Call, domains: readonly (readonly Json[])[]): readonly Json[] {
  if (
    call.environment.personality.domainsAreFlat &&
    domains.flat().every((item) => item === '&' || Array.isArray(item))
  ) {
    return normalizeDomain(domains.flat().filter(Array.isArray));
  }
  return joinDomains(domains);
}
