/** Makes random calls that name fields in every position and form of the table, for fields.properties.heavy.test.ts. */
import { FIELD_METHODS, findFieldMethod } from '@erp-proxy/odoo/fields';

export interface RandomCall {
  model: string;
  method: string;
  params: unknown[];
  keyword: Record<string, unknown>;
}

/** By model: fields to choose from, with denied fields among them, and fields that lead to other models. */
export interface Vocabulary {
  [model: string]: {
    ids: readonly number[];
    fields: readonly string[];
    relations: Readonly<Record<string, string>>;
  };
}

type Random = () => number;

/** The methods that show most values. Version 19 makes the last methods of the list private. */
const USUAL = [
  'read',
  'search',
  'search_read',
  'search_count',
  'read_group',
  'export_data',
  'name_search',
  'mapped',
  'filtered',
  'filtered_domain',
  'sorted',
  'search_panel_select_range',
  'search_panel_select_multi_range',
];
/** Arguments of `web_read_group` that only 19 has, or only earlier versions have. */
const GROUP_ARGUMENTS = {
  since19: [
    'aggregates',
    'auto_unfold',
    'opening_info',
    'unfold_read_specification',
    'unfold_read_default_limit',
    'groupby_read_specification',
  ],
  before19: ['fields', 'lazy', 'expand', 'expand_limit', 'expand_orderby'],
};
/** Methods without a row in the table. */
const UNKNOWN = ['get_views', 'get_view', 'fields_view_get', 'load_views', 'find_or_create'];

export class CallMaker {
  readonly #random: Random;
  readonly #words: Vocabulary;
  /** Values that a search could guess. */
  readonly #guesses: readonly unknown[];
  /** Probability that a domain has conditions. */
  readonly #narrowing: number;
  /** The model that the field of a search panel leads to. */
  #panelModel = '';

  constructor(random: Random, words: Vocabulary, guesses: readonly unknown[], narrowing = 1) {
    this.#narrowing = narrowing;
    this.#random = random;
    this.#words = words;
    this.#guesses = guesses;
  }

  /** A call of one method on one of the models, or on the only model that has it. */
  makeOf(method: string, models: readonly string[]): RandomCall {
    const [model = '', own] = method.includes('/') ? method.split('/') : [];
    return own === undefined ? this.#makeOf(this.#pick(models), method) : this.#makeOf(model, own);
  }

  make(): RandomCall {
    const call = this.#make();
    // The user of the calls must stay as it is.
    const endsCalls = call.model === 'res.users' && !/get|read|search|name|group/.test(call.method);
    return endsCalls ? this.make() : call;
  }

  #make(): RandomCall {
    const model = this.#pick(Object.keys(this.#words));
    const own = FIELD_METHODS.filter((name) => !name.includes('/') || name.startsWith(`${model}/`));
    const usual = this.#chance(0.5) ? USUAL : own;
    return this.#makeOf(model, this.#pick(this.#chance(0.05) ? UNKNOWN : usual).replace(/^.*\//, ''));
  }

  #makeOf(model: string, method: string): RandomCall {
    const keyword: Record<string, unknown> = {};
    const params: unknown[] = [];
    this.#panelModel = model;
    const absent = this.#pick([GROUP_ARGUMENTS.since19, GROUP_ARGUMENTS.before19]);
    let isPlaced = this.#chance(0.5);
    for (const { names, position, form } of findFieldMethod(model, method)?.arguments ?? []) {
      const name = this.#pick(names);
      if (method === 'web_read_group' && absent.includes(name)) {
        isPlaced = false;
        continue;
      }
      if (name === 'ids') {
        params.push(this.#ids(model));
        continue;
      }
      const isOfPanel = method.startsWith('search_panel') && form !== 'panel_field';
      const isOptional = isOfPanel || name.startsWith('expand') || (form === 'free' && name !== 'operation');
      if (isOptional ? this.#chance(0.7) : this.#chance(0.1)) isPlaced = false;
      else if (position !== null && isPlaced) params.push(this.#argument(form, name, model));
      else keyword[name] = this.#argument(form, name, model);
    }
    if (this.#chance(0.2)) keyword['context'] = this.#context(model);
    return { model, method, params, keyword };
  }

  #argument(form: string, name: string, model: string): unknown {
    if (form === 'free') return this.#free(name, model);
    if (this.#chance(0.04))
      return this.#pick([null, false, [], {}, '', 0, true, 'vat', { vat: 1 }, [['vat']]]);
    switch (form) {
      case 'names':
      case 'listed':
      case 'shown':
      case 'described':
        return name === 'func' || name === 'field_name' || name === 'full_name'
          ? this.#path(model, 1)
          : this.#list(() => this.#path(model, 1));
      case 'page_specification':
        return name === 'fields' ? this.#list(() => this.#path(model, 1)) : this.#specification(model, 2);
      case 'specification':
        return this.#specification(model, 2);
      case 'domain':
        return this.#chance(this.#narrowing) ? this.#domain(model) : [];
      case 'panel_domain':
        return this.#chance(this.#narrowing) ? this.#domain(this.#panelModel) : [];
      case 'group_domains':
        return this.#chance(0.5)
          ? this.#domain(model)
          : { [this.#pick(['false', '1', '2'])]: this.#domain(model) };
      case 'having':
        return this.#list(() => [`${this.#field(model)}:sum`, '>', 1]);
      case 'order':
      case 'group_order':
        if (this.#chance(0.6)) return this.#pick([null, false, '']);
        return this.#list(
          () => `${this.#path(model, 2)}${this.#pick([' desc', ' asc', '', ' desc nulls last'])}`,
        ).join(', ');
      case 'groups':
      case 'aggregates':
      case 'aggregates_or_groups': {
        const list = this.#list(
          () =>
            `${this.#path(model, 2)}${this.#pick(['', ':month', ':sum', ':max', ':array_agg', ':count_distinct'])}`,
        );
        // It depends on the version which of the two names is read.
        const strange = `${this.#path(model, 1)}:${this.#pick(['max', 'x'])}(${this.#path(model, 2)})`;
        if (this.#chance(0.1)) list.push(strange);
        const renamed = this.#chance(0.3) ? [...list, `x:max(${this.#field(model)})`] : list;
        if (name === 'grouping_sets') return [renamed, []];
        return this.#chance(0.2) ? renamed[0] : renamed;
      }
      case 'group_specifications':
        return { [this.#field(model)]: this.#specification(model, 1) };
      case 'values':
        return name.includes('list') && this.#chance(0.5)
          ? this.#list(() => this.#values(model, 2))
          : this.#values(model, 2);
      case 'columns':
      case 'loaded_columns':
        return this.#list(() => this.#path(model, 3).replaceAll('.', this.#pick(['/', '.'])));
      case 'changes':
        return this.#chance(0.5)
          ? this.#specification(model, 2)
          : Object.fromEntries(this.#list(() => [this.#path(model, 2), '1']));
      case 'name_text':
        return this.#pick([...this.#guesses, '', 'a', 'Deco']);
      case 'progress_bar':
        return { field: this.#field(model), colors: { a: 'success' }, sum_field: this.#field(model) };
      case 'panel_field': {
        const relations = Object.keys(this.#words[model]!.relations);
        const field = this.#chance(0.7) && relations.length > 0 ? this.#pick(relations) : this.#field(model);
        this.#panelModel = this.#words[model]!.relations[field] ?? model;
        return field;
      }
      case 'panel_group':
        return this.#field(this.#panelModel);
      case 'panel_parents':
        return this.#chance(0.5);
      default:
        return this.#pick([[], [{ domain: this.#domain(model) }]]);
    }
  }

  #free(name: string, model: string): unknown {
    if (name === 'limit') return this.#pick([1, 3, 80]);
    if (name === 'offset') return this.#pick([0, 2]);
    if (name === 'operator') return this.#pick(['ilike', '=', 'like', 'in']);
    if (name === 'load') return this.#pick(['_classic_read', null, '']);
    if (name === 'lazy') return this.#chance(0.5);
    if (name === 'attributes') return this.#pick([[], ['type', 'string']]);
    if (name === 'data') return this.#list(() => this.#list(() => this.#pick(this.#guesses)));
    if (name === 'operation') return 'read';
    if (name === 'count' || name === 'expand') return true;
    if (name === 'enable_counters' || name === 'hierarchize') return this.#chance(0.5);
    if (name === 'next_id') return this.#pick([...this.#ids(model)]);
    return this.#pick(['a', null, false]);
  }

  #context(model: string): unknown {
    return this.#pick<Record<string, unknown>>([
      { active_test: false },
      { show_vat: true },
      { show_email: 1, lang: 'en_US' },
      { seller_id: 1 },
      { [`default_${this.#field(model)}`]: this.#pick(this.#guesses) },
      { [`search_default_${this.#field(model)}`]: 1 },
      { group_by: [this.#path(model, 1)] },
      { bin_size: true },
    ]);
  }

  #domain(model: string, depth = 2): unknown[] {
    const conditions = this.#list(() => this.#condition(model, depth), 2);
    return this.#chance(0.3) && conditions.length === 2 ? ['|', ...conditions] : conditions;
  }

  #condition(model: string, depth: number): unknown[] {
    const relations = Object.entries(this.#words[model]!.relations);
    if (depth > 0 && relations.length > 0 && this.#chance(0.15)) {
      const [field, to] = this.#pick(relations);
      return [field, this.#pick(['any', 'not any', 'ANY']), this.#domain(to, depth - 1)];
    }
    if (depth > 0 && this.#chance(0.08)) {
      // From 19 on, `any` on `id` holds conditions on the record itself.
      if (this.#chance(0.5)) return ['id', this.#pick(['any', 'not any']), this.#domain(model, depth - 1)];
      const [path, ...others] = this.#condition(model, depth - 1);
      return [`id.${path}`, ...others];
    }
    if (this.#chance(0.05))
      return ['id', this.#pick(['child_of', 'parent_of']), this.#pick([...this.#guesses, 'a', 'Deco'])];
    const operator = this.#pick([
      '=',
      '!=',
      'ilike',
      '=like',
      'in',
      'not in',
      '>',
      '<=',
      'child_of',
      '=ilike',
      'like',
    ]);
    const guess = this.#pick([...this.#guesses, 1, false, 10]);
    const isList = operator.endsWith('in');
    return [this.#path(model, 3), operator, isList ? [guess, this.#pick(this.#guesses)] : guess];
  }

  #specification(model: string, depth: number): Record<string, unknown> {
    return Object.fromEntries(
      this.#list((): [string, unknown] => {
        const field = this.#field(model);
        const to = this.#words[model]!.relations[field];
        if (to === undefined || depth === 0 || this.#chance(0.3)) return [field, {}];
        const inner: Record<string, unknown> = { fields: this.#specification(to, depth - 1) };
        if (this.#chance(0.2)) inner['order'] = this.#path(to, 1);
        if (this.#chance(0.2)) inner['context'] = this.#context(to);
        return [field, inner];
      }),
    );
  }

  #values(model: string, depth: number): Record<string, unknown> {
    return Object.fromEntries(
      this.#list((): [string, unknown] => {
        const field = this.#field(model);
        const to = this.#words[model]!.relations[field];
        if (to === undefined) return [field, this.#pick(['text', 1, true, ...this.#guesses])];
        const ids = this.#words[to]!.ids;
        if (depth === 0 || !field.endsWith('_ids')) return [field, this.#pick(ids)];
        const inner = this.#values(to, depth - 1);
        const values = this.#chance(0.3) ? Object.entries(inner) : inner;
        return [
          field,
          [
            this.#pick<unknown>([
              [0, 0, values],
              [1, this.#pick(ids), values],
              [4, this.#pick(ids)],
            ]),
          ],
        ];
      }),
    );
  }

  /** A field, or a path over fields that lead to other models. */
  #path(model: string, lengthMax: number): string {
    const field = this.#field(model);
    const to = this.#words[model]!.relations[field];
    return to === undefined || lengthMax <= 1 || this.#chance(0.3)
      ? field
      : `${field}.${this.#path(to, lengthMax - 1)}`;
  }

  #field(model: string): string {
    if (this.#chance(0.03))
      return this.#pick(['no_such_field', 'id', 'display_name', '.id', 'create_uid', '__count']);
    const { fields, relations } = this.#words[model]!;
    return this.#pick([...fields, ...Object.keys(relations)]);
  }

  #ids(model: string): number[] {
    const { ids } = this.#words[model]!;
    return this.#list(() => this.#pick(ids));
  }

  #list<Item>(make: () => Item, max = 3): Item[] {
    return Array.from({ length: 1 + Math.floor(this.#random() * max) }, make);
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item;
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }
}
