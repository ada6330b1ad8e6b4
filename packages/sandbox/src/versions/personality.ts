/** The behaviour in which Odoo versions differ, as data. The ORM and the routes use this and never a version number. */
import type { Json, JsonObject } from '../json/value.ts';
import type { Fault } from '../orm/fault.ts';

export type Version = 14 | 15 | 16 | 17 | 18 | 19 | 22;

/** The parts of a model that messages mention. */
export interface NamedModel {
  readonly name: string;
  readonly description: string;
}

/** The errors whose class or message differs between versions. */
export interface Texts {
  readonly unknownMethod: (model: string, method: string, isField: boolean) => Fault;
  readonly privateMethod: (model: string, method: string) => Fault;
  readonly unknownFieldRead: (model: string, field: string) => Fault;
  readonly unknownFieldCreate: (model: string, field: string) => Fault;
  readonly unknownFieldWrite: (model: string, field: string) => Fault;
  readonly unknownFieldDomain: (model: string, field: string, item: readonly Json[]) => Fault;
  /**
   * The error of a condition or an order by a field that is no column. Undefined: Odoo leaves out the condition or the
   * field.
   */
  readonly notStored: ((model: string, field: string) => Fault) | undefined;
  readonly domainNotList: (domain: Json) => Fault;
  readonly domainMalformed: (domain: Json) => Fault;
  /** `domain` is the whole domain that contains the item. */
  readonly domainItem: (item: Json, domain: readonly Json[]) => Fault;
  /** The error of a domain that compares a date with a value that is no date. */
  readonly dateCompared: (value: Json) => Fault;
  /** The error of ids that are lists or objects. */
  readonly idIsNested: (id: Json) => Fault;
  readonly domainOperator: (item: readonly Json[]) => Fault;
  /** The error of ids beyond int4. Undefined: Odoo finds no record. */
  readonly idOutOfRange: ((id: string) => Fault) | undefined;
  /** The error of a many2one that gets a text or an object. Undefined: the field becomes empty. */
  readonly linkIsWrong: ((value: Json) => Fault) | undefined;
  readonly badLimit: (limit: Json) => Fault;
  /** The error of a day that PostgreSQL cannot read. Undefined: Odoo reads the day. */
  readonly dateOutOfRange: ((value: string) => Fault) | undefined;
  readonly noIds: () => Fault;
  readonly tooFewArguments: (given: number) => Fault;
  readonly emptyDatabase: () => Fault;
  readonly missingValue: (model: NamedModel, field: string, label: string) => Fault;
  readonly foreignKey: (model: NamedModel, field: string, label: string) => Fault;
  /**
   * The error of a violated constraint of PostgreSQL. `message`: the model's message for it; `name`: the name of the
   * constraint; `hasLanguage`: whether the context has a language.
   */
  readonly constraint: (message: string, name: string, hasLanguage: boolean) => Fault;
  readonly fieldGroups: (model: NamedModel, fields: readonly string[], uid: number, group: string) => Fault;
  readonly recordRule: (model: NamedModel, operation: string, user: string) => Fault;
  /** The error of a language that is not installed. Undefined: Odoo ignores the language. */
  readonly unknownLanguage: ((code: string) => Fault) | undefined;
  /** The error of a text as id. Undefined: `read` finds no record, and fails only if the text is not a number. */
  readonly idIsText: ((id: string) => Fault) | undefined;
}

export interface Personality {
  readonly version: Version;
  readonly serverVersion: string;
  readonly texts: Texts;
  /** Display names of groups in access errors, by xml id, in the order of the messages. */
  readonly groupNames: Readonly<Record<string, string>>;
  /** Public names that may not be called remotely (@api.private). */
  readonly privateMethods: ReadonlySet<string>;
  /** Methods that can be called, but that /doc-bearer omits. */
  readonly deprecatedMethods: ReadonlySet<string>;
  /** id and display_name are the first fields of a record (19). */
  readonly magicFieldsFirst: boolean;
  /** Number of arguments of execute_kw that are unpacked before any check. */
  readonly rpcArgumentsMin: number;
  readonly takesAny: boolean;
  /** In a domain, `id.name` and `["id", "any", …]` are conditions on the record itself (19). */
  readonly idLeadsToRecord: boolean;
  /** Domains compare times without their microseconds (19). */
  readonly comparesSeconds: boolean;
  /** A domain can compare `display_name`, although it is no column (18 and later). */
  readonly searchesDisplayNames: boolean;
  /** Records can be sorted by a field of a linked record (18 and later). */
  readonly sortsRelated: boolean;
  /** `message_post` takes plain text and escapes it, unless `body_is_html` is true (17 and later). */
  readonly escapesMessages: boolean;
  /** Files that are no UTF-8 are shown in JSON as Latin-1 (17 and earlier); otherwise there is no answer. */
  readonly showsRawBytes: boolean;
  /** A domain compares dates with terms such as `today -7d` (19). */
  readonly readsDateTerms: boolean;
  /** Names of order lines end with the customer's company (17 and later); otherwise with the customer's reference. */
  readonly linesNameCustomer: boolean;
  /** Domains do not distinguish an empty text from no text (18 and later). */
  readonly emptyTextsAreUnset: boolean;
  /** Values of domains are sent to PostgreSQL as they are (18 and earlier). */
  readonly comparesInSql: boolean;
  /** A write of `raw` refuses text (19). */
  readonly rejectsRawText: boolean;
  /** `copy` and `message_post` return lists. */
  readonly copyIsList: boolean;
  readonly messageIsList: boolean;
  /** A recordset returned by a method is shown as its ids (19), otherwise as text: `res.partner(1,)`. */
  readonly recordsetIsList: boolean;
  /** read_group: keys precede sums, and the caller's domain precedes the group's. */
  readonly readGroupKeysFirst: boolean;
  /**
   * Position of the range of a group of dates: before the domain, with the group's key as name (16 and later), or after
   * the domain, with the field as name (15).
   */
  readonly readGroupRange: 'before_domain' | 'after_domain' | 'absent';
  /** `partner_id.id` in an order sorts by the id, not by the order of the partner model (17 and later). */
  readonly ordersByLinkedId: boolean;
  /** The result of `context_get` includes the id of the user. */
  readonly contextTellsUser: boolean;
  /** Combined domains are one flat list of `&` (19) instead of nested ones. */
  readonly domainsAreFlat: boolean;
  readonly confirmTwiceFails: boolean;
  readonly cancelOpensWizard: boolean;
  readonly quotationContext: (orderId: number) => JsonObject;
  /** The first members of the action that opens a quotation's composer, and the context of the cancel wizard. */
  readonly composerHead: JsonObject;
  readonly cancelContext: JsonObject;
  /** Names of attributes in fields_get and get_views. */
  readonly fieldAttributes: {
    readonly aggregator: string;
    readonly hasGroupable: boolean;
    readonly hasHierarchy: boolean;
    readonly viewsNestFields: boolean;
    /** The name of the field with the time of a record's last change, for the web client. */
    readonly stamp: string;
  };
  readonly wire: Wire;
}

/** Differences in HTTP. */
export interface Wire {
  /** Whether the version has /jsonrpc. */
  readonly jsonrpc: boolean;
  /** Whether the version has /json/2 and /doc-bearer. */
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
  /** Whether the version has /web/health. */
  readonly health: boolean;
  /** JSON is ASCII: all other characters are escaped. */
  readonly escapesNonAscii: boolean;
  /** The content type of JSON has no charset, and precedes the length. */
  readonly plainJsonType: boolean;
  /**
   * Pages for 400 repeat the body of the request, JSON that is not a call gets 500, and an unknown path gets JSON (14,
   * 15).
   */
  readonly oldPages: boolean;
  /** Tracebacks end with the frame that raised the exception again (14, 15). */
  readonly chainsTracebacks: boolean;
  /** Five consecutive wrong keys from one address lock it out for a minute (14, 15). */
  readonly coolsDownLogins: boolean;
  /** Whether answers have `Connection: close`. */
  readonly connectionHeader: boolean;
}
