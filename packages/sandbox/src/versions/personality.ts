/**
 * Everything in which one Odoo version differs from another, as data: the ORM and the routes ask here and
 * never look at a version number.
 */
import type { Json, JsonObject } from '../json/value.ts';
import type { Fault } from '../orm/fault.ts';

export type Version = 14 | 15 | 16 | 17 | 18 | 19 | 22;

/** The part of a model that messages name. */
export interface NamedModel {
  readonly name: string;
  readonly description: string;
}

/** The errors whose class or words differ between versions. */
export interface Texts {
  readonly unknownMethod: (model: string, method: string, isField: boolean) => Fault;
  readonly privateMethod: (model: string, method: string) => Fault;
  readonly unknownFieldRead: (model: string, field: string) => Fault;
  readonly unknownFieldCreate: (model: string, field: string) => Fault;
  readonly unknownFieldWrite: (model: string, field: string) => Fault;
  readonly unknownFieldDomain: (model: string, field: string, item: readonly Json[]) => Fault;
  readonly domainNotList: (domain: Json) => Fault;
  readonly domainMalformed: (domain: Json) => Fault;
  /** `domain` is the whole that the item stands in. */
  readonly domainItem: (item: Json, domain: readonly Json[]) => Fault;
  /** A text that is no date, compared with one in a domain. */
  readonly dateCompared: (value: string) => Fault;
  /** Ids that are lists or objects themselves. */
  readonly idIsNested: (id: Json) => Fault;
  readonly domainOperator: (item: readonly Json[]) => Fault;
  /** Undefined: ids beyond int4 are simply not found. */
  readonly idOutOfRange: ((id: string) => Fault) | undefined;
  readonly badLimit: (limit: Json) => Fault;
  readonly dateOutOfRange: (value: string, format: string) => Fault;
  readonly noIds: () => Fault;
  readonly tooFewArguments: (given: number) => Fault;
  readonly emptyDatabase: () => Fault;
  readonly missingValue: (model: NamedModel, field: string, label: string) => Fault;
  readonly foreignKey: (model: NamedModel, field: string, label: string) => Fault;
  /** Of PostgreSQL: what the model says of it, its name there, and whether the context has a language. */
  readonly constraint: (message: string, name: string, hasLanguage: boolean) => Fault;
  readonly fieldGroups: (model: NamedModel, fields: readonly string[], uid: number, group: string) => Fault;
  readonly recordRule: (model: NamedModel, operation: string, user: string) => Fault;
  /** Undefined: a language that is not installed is ignored. */
  readonly unknownLanguage: ((code: string) => Fault) | undefined;
  /** Undefined: `read` of an id that is text gives nothing, unless it is no number. */
  readonly idIsText: ((id: string) => Fault) | undefined;
}

export interface Personality {
  readonly version: Version;
  readonly serverVersion: string;
  readonly texts: Texts;
  /** Display names of the groups in access messages, by their xml ids, in the order of the messages. */
  readonly groupNames: Readonly<Record<string, string>>;
  /** Public names that may not be called remotely (@api.private). */
  readonly privateMethods: ReadonlySet<string>;
  /** Callable, but left out of /doc-bearer. */
  readonly deprecatedMethods: ReadonlySet<string>;
  /** id and display_name lead the fields of a record (19). */
  readonly magicFieldsFirst: boolean;
  /** Arguments of execute_kw that are unpacked before anything is checked. */
  readonly rpcArgumentsMin: number;
  readonly takesAny: boolean;
  /** `copy` and `message_post` return lists. */
  readonly copyIsList: boolean;
  readonly messageIsList: boolean;
  /** A recordset that a method returns is shown as its ids (19), else as text: `res.partner(1,)`. */
  readonly recordsetIsList: boolean;
  /** read_group: keys before sums, and the caller's domain before the group's. */
  readonly readGroupKeysFirst: boolean;
  /** Where the range of a group of dates stands: 16 and later before its domain, by the group's key; 15 after it, by the field. */
  readonly readGroupRange: 'before_domain' | 'after_domain' | 'absent';
  /** `context_get` has the user's id. */
  readonly contextTellsUser: boolean;
  /** Joined domains are one long `&` (19) instead of nested ones. */
  readonly domainsAreFlat: boolean;
  readonly confirmTwiceFails: boolean;
  readonly cancelOpensWizard: boolean;
  readonly quotationContext: (orderId: number) => JsonObject;
  /** Members that lead the action of a quotation's composer, and the context of the cancel wizard. */
  readonly composerHead: JsonObject;
  readonly cancelContext: JsonObject;
  /** What fields_get and get_views call things. */
  readonly fieldAttributes: {
    readonly aggregator: string;
    readonly hasGroupable: boolean;
    readonly hasHierarchy: boolean;
    readonly viewsNestFields: boolean;
    /** The field that tells the web client when a record was changed. */
    readonly stamp: string;
  };
  readonly wire: Wire;
}

/** How the HTTP side of the version looks. */
export interface Wire {
  /** Has /jsonrpc. */
  readonly jsonrpc: boolean;
  /** Has /json/2 and /doc-bearer. */
  readonly json2: boolean;
  readonly errorCode: number;
  readonly debugFirst: boolean;
  readonly accessDeniedTraceback: boolean;
  readonly nosniff: boolean;
  readonly wrongContentType: { readonly status: 400 | 415; readonly routeType: string };
  readonly jsonrpcFunction: string;
  readonly contextMustBeObject: boolean;
  readonly emptyDatabaseName: string | undefined;
  readonly longSessionIds: boolean;
  readonly cookiesTwice: boolean;
  readonly versionRoutes: boolean;
  readonly jsonRedirects: boolean;
  readonly home: string;
  readonly healthShowsDatabase: boolean;
  /** Has /web/health. */
  readonly health: boolean;
  /** JSON is ASCII: other characters are escaped. */
  readonly escapesNonAscii: boolean;
  /** The content type of JSON has no charset, and stands before the length. */
  readonly plainJsonType: boolean;
  /** 400 pages repeat the request's body, 500 for what is JSON but no call, JSON for an unknown path (14, 15). */
  readonly oldPages: boolean;
  /** Exceptions are raised once more on their way out (14, 15). */
  readonly chainsTracebacks: boolean;
  /** Five wrong keys of one address in a row keep it out for a minute (14, 15). */
  readonly coolsDownLogins: boolean;
  /** Says `Connection: close`. */
  readonly connectionHeader: boolean;
}
