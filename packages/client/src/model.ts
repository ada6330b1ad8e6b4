/** The functions of one model, which call Odoo's methods. */
import type { Calls } from './calls.ts';
import { type ChangesPage, readChanges } from './changes.ts';
import type { CheckDomain, CheckOrder, DomainInput } from './domain-types.ts';
import { ErpProxyError } from './errors.ts';
import { type CsvQuery, createExport } from './export.ts';
import type {
  BinaryField,
  Comparable,
  Create,
  FieldInfo,
  FieldName,
  MethodName,
  Row,
  Update,
  UpsertRow,
} from './field-types.ts';
import type { CallOptions, ValueForm } from './options.ts';
import { createPages, type Pages } from './paginate.ts';
import { type UpsertResult, upsertRows } from './upsert.ts';

type Ids = number | readonly number[];

interface FieldsQuery<Fields> {
  /** The fields of the records, in addition to `id`. Default: all fields, which can be slow. */
  fields?: Fields | undefined;
}

interface SearchQuery<Order> {
  limit?: number | undefined;
  offset?: number | undefined;
  /** E.g. `name desc, id`. Default: the order of the model. */
  order?: Order | undefined;
}

interface PageQuery<Order> {
  /** Default: by id. For any other order, the ids of all records are read first. */
  order?: Order | undefined;
  /** Records per request. Default: 500. */
  pageSize?: number | undefined;
  /** Maximum number of records. */
  limit?: number | undefined;
}

export interface Model<Models, Name extends keyof Models, Form extends ValueForm = 'odoo'> {
  /** Returns the records that match a domain. */
  searchRead<
    const Given extends DomainInput<Models, Name>,
    const Fields extends readonly (keyof Models[Name] & string)[] | undefined = undefined,
    const Order extends string = string,
  >(
    domain: CheckDomain<Models, Name, Given>,
    query?: FieldsQuery<Fields> & SearchQuery<CheckOrder<Models, Name, Order>>,
    options?: CallOptions,
  ): Promise<Row<Models, Name, Fields, Form>[]>;
  /**
   * Returns records by id. If one does not exist, some versions of Odoo throw `record_missing`, others leave it out.
   */
  read<const Fields extends readonly (keyof Models[Name] & string)[] | undefined = undefined>(
    ids: readonly number[],
    query?: FieldsQuery<Fields>,
    options?: CallOptions,
  ): Promise<Row<Models, Name, Fields, Form>[]>;
  /** Returns a record, or null if it does not exist. */
  one<const Fields extends readonly (keyof Models[Name] & string)[] | undefined = undefined>(
    id: number,
    query?: FieldsQuery<Fields>,
    options?: CallOptions,
  ): Promise<Row<Models, Name, Fields, Form> | null>;
  /** Returns the ids of the records that match a domain. */
  search<const Given extends DomainInput<Models, Name>, const Order extends string = string>(
    domain: CheckDomain<Models, Name, Given>,
    query?: SearchQuery<CheckOrder<Models, Name, Order>>,
    options?: CallOptions,
  ): Promise<number[]>;
  /** Returns ids and names of the records whose name contains a text. */
  nameSearch<const Given extends DomainInput<Models, Name> = readonly []>(
    text: string,
    query?: {
      domain?: CheckDomain<Models, Name, Given> | undefined;
      operator?: 'ilike' | 'like' | '=ilike' | '=like' | '=' | undefined;
      limit?: number | undefined;
    },
    options?: CallOptions,
  ): Promise<[id: number, name: string][]>;
  /** Counts the records that match a domain. */
  count<const Given extends DomainInput<Models, Name> = readonly []>(
    domain?: CheckDomain<Models, Name, Given>,
    options?: CallOptions,
  ): Promise<number>;
  /** Returns all records that match a domain, page after page. */
  paginate<
    const Given extends DomainInput<Models, Name>,
    const Fields extends readonly (keyof Models[Name] & string)[] | undefined = undefined,
    const Order extends string = string,
  >(
    domain: CheckDomain<Models, Name, Given>,
    query?: FieldsQuery<Fields> & PageQuery<CheckOrder<Models, Name, Order>>,
    options?: Omit<CallOptions, 'idempotencyKey'>,
  ): Pages<Row<Models, Name, Fields, Form>>;
  /**
   * Returns all records that match a domain, the lowest id first, in one request, to which the proxy prefers other
   * calls. The time limit applies to each page. The policy of the key must allow exports.
   */
  export<
    const Given extends DomainInput<Models, Name>,
    const Fields extends readonly (keyof Models[Name] & string)[],
  >(
    domain: CheckDomain<Models, Name, Given>,
    query: {
      /** The fields of the records, in addition to `id`. */
      fields: Fields;
      /** Maximum number of records. */
      limit?: number | undefined;
      /** The export begins after the record with this id. */
      after?: number | undefined;
    },
    options?: Omit<CallOptions, 'idempotencyKey' | 'approval'>,
  ): Pages<Row<Models, Name, Fields, Form>>;
  /** Returns the records as a CSV file, in pieces of text. Throws if the connection breaks, without continuing. */
  exportCsv<const Given extends DomainInput<Models, Name>>(
    domain: CheckDomain<Models, Name, Given>,
    query: CsvQuery & { fields: readonly (keyof Models[Name] & string)[] },
    options?: Omit<CallOptions, 'idempotencyKey' | 'approval'>,
  ): AsyncIterable<string>;
  /**
   * Returns the changes since a cursor, answer after answer until there are no more. `since: null` begins with all
   * records that match. The policy of the key must allow changes.
   */
  changes<
    const Given extends DomainInput<Models, Name>,
    const Fields extends readonly (keyof Models[Name] & string)[],
  >(
    domain: CheckDomain<Models, Name, Given>,
    query: {
      /** The fields of the records, in addition to `id`. */
      fields: Fields;
      /** The cursor of the last answer, which must have had the same domain and fields. */
      since: string | null;
      /** Maximum changes per answer. Default: 500. */
      limit?: number | undefined;
    },
    options?: Omit<CallOptions, 'idempotencyKey' | 'approval'>,
  ): AsyncGenerator<ChangesPage<Row<Models, Name, Fields, Form>>, void, undefined>;
  /** Creates a record and returns its id. */
  create(values: Create<Models, Name, Form>, options?: CallOptions): Promise<number>;
  /** Creates all of the records or none, and returns their ids. */
  createMany(rows: readonly Create<Models, Name, Form>[], options?: CallOptions): Promise<number[]>;
  /** Changes records. */
  update(ids: Ids, values: Update<Models, Name, Form>, options?: CallOptions): Promise<true>;
  /** The same as `update`. */
  write(ids: Ids, values: Update<Models, Name, Form>, options?: CallOptions): Promise<true>;
  /** Deletes records. */
  delete(ids: Ids, options?: CallOptions): Promise<true>;
  /** The same as `delete`. */
  unlink(ids: Ids, options?: CallOptions): Promise<true>;
  /**
   * Updates the records that have the same values in the fields `by`, including archived ones, and creates the others.
   * Another program may create the same record at the same time. Odoo prevents that only for unique fields.
   */
  upsert<
    const By extends
      | (keyof Comparable<Models, Name, Form> & string)
      | readonly (keyof Comparable<Models, Name, Form> & string)[],
  >(
    by: By,
    rows: readonly UpsertRow<Models, Name, Form, By>[],
    options?: Omit<CallOptions, 'idempotencyKey'>,
  ): Promise<UpsertResult[]>;
  /**
   * Returns the file in a binary field. The body of the response is the bytes, which arrive while they are read: `await
   * response.bytes()`, or `response.body`. `timeout` limits the time until the first bytes.
   */
  download(
    id: number,
    field: BinaryField<Models, Name> & string,
    options?: Omit<CallOptions, 'idempotencyKey' | 'approval'>,
  ): Promise<Response>;
  /**
   * Returns the report of a record as PDF, or those of several records as one ZIP archive. Default of `report`: the
   * usual one of the model.
   */
  document(
    ids: Ids,
    query?: { report?: string; lang?: string },
    options?: Omit<CallOptions, 'idempotencyKey' | 'approval' | 'context'>,
  ): Promise<Response>;
  /** Writes a file into a binary field of the record `id`, or of a new one with `values`. Returns the id. */
  upload(
    field: BinaryField<Models, Name> & string,
    file: Blob | ArrayBuffer | Uint8Array<ArrayBuffer>,
    target: { id: number } | { values: Update<Models, Name, Form> },
    options?: CallOptions,
  ): Promise<number>;
  /** Calls any public method of the model: `call('action_confirm', [[4]])`. */
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the type
  call<Result = any>(
    method: MethodName<Models, Name>,
    args?: readonly unknown[],
    named?: { readonly [name: string]: unknown },
    options?: CallOptions,
  ): Promise<Result>;
  /** Returns the fields of the model as Odoo describes them. */
  describe(options?: CallOptions): Promise<{ [Field in FieldName<Models, Name>]: FieldInfo }>;
}

interface Query {
  fields?: readonly string[];
  limit?: number;
  offset?: number;
  order?: string;
  pageSize?: number;
}

/** Untyped: the caller adds the types of its models. */
export function createModel(model: string, { execute, batch, askChanges, exports, files }: Calls) {
  async function call(
    action: string,
    params: readonly unknown[],
    named: { readonly [name: string]: unknown } = {},
    options?: CallOptions,
  ): Promise<unknown> {
    // `call_method`, which needs `fn_name`, is not supported here, because each method can be an action itself.
    return (await execute({ action, model_id: model, params, keyword: pickGiven(named) }, options)).result;
  }
  const read = (ids: readonly number[], { fields }: Query = {}, options?: CallOptions) =>
    call('read', [ids], { fields }, options);
  const update = (ids: Ids, values: object, options?: CallOptions) =>
    call('write', [[ids].flat(), values], {}, options);
  const remove = (ids: Ids, options?: CallOptions) => call('unlink', [[ids].flat()], {}, options);
  const create = (values: object, options?: CallOptions) => call('create', [values], {}, options);
  return {
    searchRead: (
      domain: readonly unknown[],
      { fields, limit, offset, order }: Query = {},
      options?: CallOptions,
    ) => call('search_read', [domain], { fields, limit, offset, order }, options),
    read,
    async one(id: number, query?: Query, options?: CallOptions) {
      try {
        return ((await read([id], query, options)) as unknown[])[0] ?? null;
      } catch (error) {
        if (error instanceof ErpProxyError && error.type === 'record_missing') return null;
        throw error;
      }
    },
    search: (domain: readonly unknown[], { limit, offset, order }: Query = {}, options?: CallOptions) =>
      call('search', [domain], { limit, offset, order }, options),
    nameSearch: (
      text: string,
      query: { domain?: readonly unknown[]; operator?: string; limit?: number } = {},
      options?: CallOptions,
    ) => {
      // Passed by position, because Odoo 19 renamed a parameter.
      const { domain = [], operator = 'ilike', limit = 100 } = query;
      return call('name_search', [text, domain, operator, limit], {}, options);
    },
    count: (domain: readonly unknown[] = [], options?: CallOptions) =>
      call('search_count', [domain], {}, options),
    paginate: (domain: readonly unknown[], query: Query = {}, options?: CallOptions) =>
      createPages(model, execute, domain, query, options),
    export: (domain: readonly unknown[], query: Parameters<typeof createExport>[3], options?: CallOptions) =>
      createExport(model, exports, domain, query, options),
    async *exportCsv(
      domain: readonly unknown[],
      { escapeFormulas: escape_formulas, ...query }: CsvQuery,
      options: CallOptions = {},
    ) {
      const call = { model_id: model, domain, format: 'csv', escape_formulas, ...query } as const;
      for await (const line of exports.open(call, options, 1)) yield `${line}\n`;
    },
    changes: (domain: readonly unknown[], query: Parameters<typeof readChanges>[3], options?: CallOptions) =>
      readChanges(model, askChanges, domain, query, options),
    download: (record: number, field: string, options?: CallOptions) =>
      files.download({ model_id: model, record, field }, options),
    document: (
      ids: number | readonly number[],
      query: { report?: string; lang?: string } = {},
      options?: CallOptions,
    ) =>
      files.document(
        { model_id: model, ...(typeof ids === 'number' ? { record: ids } : { records: ids }), ...query },
        options,
      ),
    upload: (
      field: string,
      file: Blob | ArrayBuffer | Uint8Array<ArrayBuffer>,
      { id, values }: { id?: number; values?: object },
      options?: CallOptions,
    ) =>
      files.upload(
        { model_id: model, field, ...(id ? { record: id } : { values: values ?? {} }) },
        file,
        options,
      ),
    create,
    createMany: create,
    update,
    write: update,
    delete: remove,
    unlink: remove,
    upsert: (by: string | readonly string[], rows: readonly object[], options?: CallOptions) =>
      upsertRows(model, { execute, batch }, [by].flat(), rows as Record<string, unknown>[], options),
    call: (
      method: string,
      args: readonly unknown[] = [],
      named: { readonly [name: string]: unknown } = {},
      options?: CallOptions,
    ) => call(method, args, named, options),
    describe: (options?: CallOptions) => call('fields_get', [], {}, options),
  };
}

/** Omits members that are undefined, so that Odoo's defaults apply. */
function pickGiven(members: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
