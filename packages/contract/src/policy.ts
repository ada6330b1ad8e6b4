/** The policy of a client key, in the form of the admin API, the YAML file and the store. */

/**
 * A policy allows only what it names. It must name the server in `instances` or `origins`, and the method in `models`.
 * The other members restrict this further; an omitted member restricts nothing. In patterns, `*` stands for any text
 * and is the only wildcard.
 */
export interface Policy {
  /** Patterns of the names of stored instances that calls may use. */
  instances?: string[];
  /** Patterns of origins (`https://erp.example.com`) that calls with their own credentials may use. */
  origins?: string[];
  /** Patterns of databases, for calls with their own credentials. Default: any. */
  dbs?: string[];
  /**
   * Patterns of models, each with patterns of its methods: `{"res.partner": ["read", "search*"], "sale.*": ["*"]}`. The
   * method `*` stands for the methods that are known to use only records of their model.
   */
  models: Record<string, string[]>;
  /**
   * Patterns of models, each with patterns of its methods: such a call runs only after an administrator has approved
   * it. It must be allowed by `models` as well.
   */
  approve?: Record<string, string[]>;
  /**
   * Patterns of models, each with patterns of its methods: tools for agents make these calls without asking a person.
   * Other calls of tools that cannot be undone need the consent of the person in front of the client, or of an
   * administrator.
   */
  unattended?: Record<string, string[]>;
  /**
   * Patterns of models, each with the fields that calls may use: `{"res.partner": {"deny": ["vat", "signup_*"]}}`. If
   * several entries match a model, all of them apply. `id` is always allowed.
   */
  fields?: Record<string, FieldRule>;
  /** True: allows only methods that are known to be read-only. */
  read_only?: boolean;
  /** True: the method `*` stands for every method. */
  allow_unknown_methods?: boolean;
  /** Ids of the companies that `allowed_company_ids` may name. A call that names none gets all of them. */
  companies?: number[];
  /** Context members that are added to calls without them. */
  context?: ContextDefaults;
  /**
   * Allowed routes that move data, in addition to single calls. They also need `models` to allow what they read and
   * write.
   */
  data?: DataRoute[];
  /** What calls to many instances at once (`POST /api/erp/fleet`) may do. Default: `read`. */
  fleet?: FleetAccess;
  /** Maximum number of records of one read. A read that asks for more records, or for all, gets this many. */
  limit_max?: number;
  /** True: reads may be answered from the cache, up to the age that the caller accepts. */
  cache?: boolean;
  /** Average number of calls in any span of `seconds`; up to `burst` calls at once (default: `requests`). */
  rate?: { requests: number; seconds: number; burst?: number };
  /** Maximum number of calls in one day (UTC). */
  per_day?: number;
  /** Maximum number of calls in one calendar month (UTC). */
  per_month?: number;
  /** Maximum number of calls at once. */
  concurrency?: number;
  /** Addresses and networks that calls may come from. Default: any. */
  cidrs?: string[];
  /** Patterns of browser origins that may use the key. Default: none, so that web pages cannot use it. */
  cors_origins?: string[];
  /**
   * True: the key may be in the source of a web page. The policy must then be read-only and name its instances, models
   * and web origins without `*`. The policy of such a key can be replaced only by another one for a publishable key.
   */
  publishable?: boolean;
}

/** A few words about each member, for a list of them. */
export const POLICY_SUMMARIES: Readonly<Record<keyof Policy, string>> = {
  instances: 'names of stored instances',
  models: 'models and their methods',
  origins: 'servers, for calls with their own credentials',
  dbs: 'databases, for calls with their own credentials',
  approve: 'methods that an administrator must approve',
  unattended: 'methods that agents call without asking',
  fields: 'fields that calls may use',
  read_only: 'only methods that read',
  allow_unknown_methods: '"*" stands for every method',
  companies: 'ids of companies',
  context: 'language, time zone, companies by default',
  data: 'export, changes, files, documents, subscriptions',
  fleet: 'whether calls to many instances may write',
  limit_max: 'records of one read',
  cache: 'kept answers',
  rate: 'calls in a span of time',
  per_day: 'calls in one day',
  per_month: 'calls in one month',
  concurrency: 'calls at once',
  cidrs: 'networks of callers',
  cors_origins: 'web pages that may use the key',
  publishable: 'a key for the source of a web page',
};

/** The members that bound how many calls a key may make, in a time and at once. */
export const KEY_LIMITS = [
  'rate',
  'per_day',
  'per_month',
  'concurrency',
] as const satisfies readonly (keyof Policy)[];
export type KeyLimit = (typeof KEY_LIMITS)[number];

/**
 * What moves data: `POST /api/erp/export`, `/api/erp/changes`, `/api/erp/download` and `upload`, `/api/erp/document`,
 * and subscriptions.
 */
export const DATA_ROUTES = ['export', 'changes', 'files', 'documents', 'subscriptions'] as const;
export type DataRoute = (typeof DATA_ROUTES)[number];

/** `read`: only methods that are known to be read-only. `write`: all methods that the policy allows. */
export const FLEET_ACCESS = ['read', 'write'] as const;
export type FleetAccess = (typeof FLEET_ACCESS)[number];

/** Context members that a policy adds to calls without them. At least one. */
export interface ContextDefaults {
  /** Code of a language of Odoo: `fr_FR`. */
  lang?: string;
  /** Name of a time zone: `Europe/Paris`. */
  tz?: string;
  /** Ids of companies. If the policy has `companies`, they must be among these. */
  allowed_company_ids?: number[];
}

/** Patterns of fields: those that calls may use, or those that they must not use. */
export type FieldRule = { allow: string[] } | { deny: string[] };
