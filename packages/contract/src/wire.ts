/** Types and limits of the execute call and its answer. The limits are part of the contract. */

/** Path of the execute call. */
export const EXECUTE_PATH = '/api/erp/execute';

/** Path of the call that asks for a server's version. */
export const VERSION_PATH = '/api/erp/version';

/** Path of the export of records. */
export const EXPORT_PATH = '/api/erp/export';
export const DOCUMENT_PATH = '/api/erp/document';

/** Path of one call on many instances. */
export const FLEET_PATH = '/api/erp/fleet';

/** Header that carries the client key. */
export const KEY_HEADER = 'x-proxy-api';

/** Header of an answer: the limit that the key's policy set instead of the caller's. */
export const LIMIT_HEADER = 'erp-proxy-limit';

/** Header of an answer in which null replaces NaN or Infinity of Odoo. Its value is the first such field. */
export const NULL_FIELD_HEADER = 'erp-proxy-null-field';

/** Header of a request: the ids of the approvals under which its calls run, separated by commas. */
export const APPROVAL_HEADER = 'x-approval';

/** Maximum number of calls in a batch. */
export const BATCH_CALLS_MAX = 100;

/** Maximum length of a text `id`, in characters. */
export const ID_LENGTH_MAX = 256;

/** Any JSON value. For clients only: the proxy passes these values on as bytes. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The Odoo server, database and user that a call runs on. */
export interface ErpInstance {
  /** A URL with http or https, optionally with a path prefix; without userinfo, query or fragment. */
  url: string;
  db: string;
  user_id: number;
  api_key: string;
}

/** One call: the body of `POST /api/erp/execute`. A batch is an array of up to 100 of these. */
export interface ExecuteCall {
  id?: string | number | null;
  /** A public method of the model, or `call_method` with `fn_name`. */
  action: string;
  /** E.g. `res.partner`. */
  model_id: string;
  fn_name?: string | null;
  /** Positional arguments, as `execute_kw` takes them; for `read`: `[[id, …]]`. */
  params?: Json[] | null;
  /** Named arguments. `limit` is the maximum number of records of the call. */
  keyword?: {
    limit?: number | null | false;
    context?: { [name: string]: Json };
    [name: string]: unknown;
  } | null;
  erp_instance: ErpInstance | { name: string };
}

/** The answer to one call: exactly one of `result` and `error`. */
export type ExecuteAnswer =
  | { jsonrpc: '2.0'; id: string | number | null; result: Json }
  | { jsonrpc: '2.0'; id: string | number | null; error: ErrorBody };

/** The body of `POST /api/erp/export`. */
export interface ExportCall {
  id?: string | number | null;
  /** E.g. `res.partner`. */
  model_id: string;
  /** Default: all records. */
  domain?: Json[] | null;
  /** Fields of the model, at least one. `id` is always exported. */
  fields: string[];
  context?: { [name: string]: Json } | null;
  /** Maximum number of records of the whole export. */
  limit?: number | null | false;
  /** The id of the last record that was received, to continue after it. */
  after?: number | null;
  /** Default: `ndjson`. */
  format?: 'ndjson' | 'csv' | null;
  /**
   * With CSV: whether the text begins with a byte order mark, by which spreadsheet programs detect UTF-8. Default:
   * false.
   */
  bom?: boolean | null;
  /** With CSV: the separator of cells. Default: a comma. */
  delimiter?: ',' | ';' | '\t' | '|' | null;
  /** With CSV: whether `'` precedes a text that a spreadsheet program would run as a formula. Default: true. */
  escape_formulas?: boolean | null;
  erp_instance: ErpInstance | { name: string };
}

/** Whether the call ran in Odoo. */
export type Outcome = 'not_sent' | 'rolled_back' | 'unknown';

/** The `error` member of an answer. */
export interface ErrorBody {
  code: number;
  /** What went wrong and what to do. */
  message: string;
  data: {
    type: string;
    /** True only if the same call may be sent again unchanged. */
    retryable: boolean;
    /** The member that caused the error, e.g. `keyword.limit`. */
    path?: string;
    /** For policy_denied: the rule of the key's policy that denied the call, e.g. `models["sale.*"]`. */
    rule?: string;
    /** For approval_required: the id of the request for approval. */
    approval?: string;
    /** For connect_required: the page on which the person connects; null if the proxy does not know its address. */
    connect_url?: string | null;
    /** Only for upstream_timeout, upstream_unreachable, upstream_bad_response and overloaded. */
    outcome?: Outcome;
    /**
     * For query_invalid, model_not_found and method_not_found: up to five existing names that are similar to the
     * unknown one, the nearest first.
     */
    nearest?: string[];
    [name: string]: unknown;
  };
}
