/** What a client key may do, as an operator writes it: in the admin API, in a YAML file, in the store. */

/**
 * A policy allows what it names and nothing else. A server must be named by `instances` or `origins`, a method by
 * `models`; every other member narrows that, and restricts nothing where it is left out. In patterns `*` stands for any
 * text; there is no other wildcard.
 */
export interface Policy {
  /** Patterns of the names of stored instances that calls may go to. */
  instances?: string[];
  /** Patterns of origins (`https://erp.example.com`) that calls with credentials of their own may go to. */
  origins?: string[];
  /** Patterns of databases, for calls with credentials of their own. Left out: any. */
  dbs?: string[];
  /** Patterns of models, each with patterns of its methods: `{"res.partner": ["read", "search*"], "sale.*": ["*"]}`. */
  models: Record<string, string[]>;
  /** True: only methods that are known to read and do nothing else. */
  read_only?: boolean;
  /** Ids of the companies that `allowed_company_ids` may name; set as it where a call names none. */
  companies?: number[];
  /** Most records of one read: a read that asks for more, or for all, gets this many. */
  limit_max?: number;
  /** True: reads may get answers that were kept, of the age that the caller accepts. */
  cache?: boolean;
  /** Calls in any span of `seconds`, on average; `burst` of them at once (left out: `requests`). */
  rate?: { requests: number; seconds: number; burst?: number };
  /** Calls in one day (UTC). */
  per_day?: number;
  /** Calls at once. */
  concurrency?: number;
  /** Addresses and networks that calls may come from. Left out: any. */
  cidrs?: string[];
  /** Patterns of browser origins that may use the key. Left out: none, so that no web page can. */
  cors_origins?: string[];
}
