/**
 * The table that maps Odoo's exceptions to types, by class, message and the frame that raised them. Data only, for all
 * versions and both protocols; a new wording is one row. The first row that matches wins, so a row for a message must
 * precede the row for its class.
 */
import type { BusinessErrorType } from '@erp-proxy/contract';

/** A row of {@link FAULT_RULES}. All given patterns must match. */
export interface FaultRule {
  type: BusinessErrorType;
  /** Matches Odoo's exception class, e.g. `builtins.KeyError`. */
  name?: RegExp;
  /** Matches Odoo's message. */
  message?: RegExp;
  /**
   * Matches the innermost frame of the traceback, `File "…", line 1, in name`. The frame is empty if the traceback is
   * missing or truncated. Messages can be translated (`context.lang`), frames cannot.
   */
  frame?: RegExp;
  /** The text for the caller if Odoo's message is not helpful. */
  text?: string;
}

/** Frames that read a domain: Odoo's code for domains (14 to 18, and 19), and the methods that pass a domain to it. */
const DOMAIN_FRAME =
  /[\\/](osv[\\/]expression|orm[\\/]domains)\.py"|[\\/](models|res_partner)\.py", line \d+, in (_?search|_where_calc|_flush_search|_?name_search|_?search_display_name|search_(count|read|fetch)|_?read_group\w*|_read_group_raw)$/;
/** Frames that read a domain, or no frame. */
const DOMAIN_OR_NO_FRAME = new RegExp(`^$|${DOMAIN_FRAME.source}`);
/**
 * Frames in which Odoo's framework, or an overridden method of it, handles arguments. Deeper inside a module, or while
 * records are sorted and filtered, the same exception is a fault of Odoo.
 */
const ARGUMENT_OR_NO_FRAME =
  /^$|[\\/]odoo[\\/](models|fields|api|http)\.py", line \d+, in (?!(sorted|mapped|filtered\w*|<\w+>)$)|[\\/]odoo[\\/](orm|osv|tools|service)[\\/]\w+\.py", line \d+, in (?!(sorted|mapped|filtered\w*|<\w+>)$)|, in (create|write|copy|copy_data|read|unlink|default_get|search\w*|_search|name_search|name_create|onchange|load|export_data|message_post|fields_get|get_views?|read_group|formatted_read_group|web_\w+)$/;
/** Frames in which 19 reads a date in a domain. */
const DATE_FRAME = /[\\/]date_utils\.py", line \d+, in parse_(iso_)?date$/;
const DATE_TEXT =
  'The domain compares a date with a value that is not a date, e.g. a text or a day that does not exist.';
const DOMAIN_TEXT =
  'The domain is malformed: a domain is a list of conditions, each a list of a field, an operator and a value, e.g. `[["email", "=", "x"]]`.';

export const FAULT_RULES: readonly FaultRule[] = [
  // Credentials. During authentication Odoo reads the user as that same user, so the missing record and the user have
  // the same id (docs/odoo-facts.md#unknown-user).
  {
    type: 'access_denied',
    name: /\.MissingError$/,
    message: /\bres\.users\((\d+),?\),[^()]*\b\1\)/,
    text: 'Access denied: the database has no such user; check `user_id`.',
  },
  { type: 'access_denied', name: /\.(AccessDenied|SessionExpiredException|Unauthorized)$/ },

  // A field that 19 looks up on a record before it checks the names of the values.
  {
    type: 'query_invalid',
    name: /^builtins\.KeyError$/,
    frame: /[\\/]orm[\\/]models\.py", line \d+, in __getitem__$/,
    text: 'The model has no such field: `data.message` names it.',
  },

  // The database. A database of another application loads, but lacks Odoo's models
  // (docs/odoo-facts.md#database-not-restricted).
  {
    type: 'database_missing',
    name: /^builtins\.KeyError$/,
    message: /^'?(res\.users|ir\.http)'?$/,
    text: 'This database of the server is not one of Odoo: check `db`.',
  },
  { type: 'database_missing', name: /^builtins\.AssertionError$/, message: /^Missing database name/ },
  { type: 'database_missing', name: /^psycopg\d?\..*\bInvalidCatalogName$/ },
  {
    // PostgreSQL's messages are in the language of its installation.
    type: 'database_missing',
    name: /^psycopg\d?\.OperationalError$/,
    message:
      /\bFATAL:[^\n]{0,8}(database "[^\n]{0,80}" does not exist|Datenbank [^\n]{0,80} existiert nicht|base de données [^\n]{0,80} n[’']existe pas|no existe la base de datos|il database [^\n]{0,80} non esiste|banco de dados [^\n]{0,80} não existe)/,
  },

  // Conflicts with other transactions. Odoo has retried and rolled back (docs/odoo-facts.md#serialization-retries).
  {
    type: 'concurrency_conflict',
    name: /^psycopg\d?\..*\b(SerializationFailure|DeadlockDetected|LockNotAvailable|TransactionRollback(Error)?)$/,
  },
  {
    type: 'concurrency_conflict',
    name: /^psycopg\d?\./,
    message: /^(could not serialize access|deadlock detected|could not obtain lock)/,
  },
  { type: 'concurrency_conflict', name: /^odoo\.exceptions\.(LockError|ConcurrencyError)$/ },

  // Errors of the database, by the class of their SQLSTATE.
  {
    type: 'validation_error',
    name: /^psycopg\d?\..*\b(UniqueViolation|CheckViolation|NotNullViolation|ForeignKeyViolation|RestrictViolation|ExclusionViolation|IntegrityError)$/,
  },
  {
    type: 'arguments_invalid',
    name: /^psycopg\d?\..*\b(InvalidTextRepresentation|NumericValueOutOfRange|DatetimeFieldOverflow|StringDataRightTruncation|DatatypeMismatch|CharacterNotInRepertoire|UntranslatableCharacter|InvalidRowCountIn\w+|InvalidParameterValue|DataError)$/,
  },
  // Values to write are parsed as dates first. Only a domain can pass an invalid date to PostgreSQL.
  {
    type: 'query_invalid',
    name: /^psycopg\d?\..*\b(InvalidDatetimeFormat|InvalidTimeZoneDisplacementValue)$/,
    text: DATE_TEXT,
  },
  {
    // Ids in a list inside a list, which 16 passes on to PostgreSQL.
    type: 'arguments_invalid',
    name: /^psycopg\d?\..*\b(UndefinedFunction|ProgrammingError)$/,
    message: /^(operator does not exist: integer = \w+\[\]|can't adapt type '(dict|list)')/,
  },
  {
    type: 'query_invalid',
    name: /^psycopg\d?\..*\b(UndefinedColumn|UndefinedFunction|AmbiguousColumn|AmbiguousFunction|GroupingError|SyntaxError|InvalidRegularExpression|ProgrammingError)$/,
  },
  { type: 'upstream_error', name: /^psycopg\d?\./ },

  // Models and methods. A private method does not exist for a caller, whatever class Odoo raises
  // (docs/odoo-facts.md#private-methods).
  { type: 'model_not_found', name: /\.UserError$/, message: /^Object \S+ doesn't exist\.?$/ },
  {
    type: 'model_not_found',
    name: /\.UserError$/,
    frame: /service[\\/]model\.py", line \d+, in execute_cr$/,
  },
  { type: 'model_not_found', name: /\.NotFound$/, message: /^the model '[^']*' does not exist/i },
  {
    type: 'model_not_found',
    name: /^builtins\.KeyError$/,
    message: /^'?[a-z_][a-z0-9_]*(\.[a-z0-9_]+)+'?$/,
    text: 'The database has no such model, or lacks one that the call needs.',
  },
  { type: 'method_not_found', name: /\.AccessError$/, message: /^Private methods? .*cannot be called/ },
  {
    type: 'method_not_found',
    name: /\.(AccessError|AttributeError)$/,
    frame: /, in (check_method_name|get_public_method)$/,
  },
  {
    type: 'method_not_found',
    name: /\.(AttributeError|NotFound)$/,
    message: /^The method '[^']*' does not exist/,
  },
  { type: 'method_not_found', name: /\.AttributeError$/, message: /^type object '[^']*' has no attribute/ },
  { type: 'method_not_found', name: /\.AttributeError$/, message: /has no attribute '__name__'$/ },
  { type: 'method_not_found', name: /\.TypeError$/, message: /^'member_descriptor' object is not callable/ },
  {
    // An attribute of a recordset, raised where Odoo looks up the method. Deeper frames are faults of Odoo.
    type: 'method_not_found',
    name: /\.AttributeError$/,
    message: /^'[a-z_][a-z0-9_]*(\.[a-z0-9_]+)+' object has no attribute/,
    frame: /^$|, in _?call_kw\w*$/,
  },
  { type: 'method_not_found', name: /\.NameError$/, message: /^Method not available/ },

  // A value that is not a domain, as 14 to 18 report it: the code that reads a domain expects lists.
  {
    type: 'query_invalid',
    name: /\.TypeError$/,
    message:
      /^(object of type '\w+' has no len\(\)|'\w+' object is not (subscriptable|iterable)|can only concatenate )/,
    frame: DOMAIN_OR_NO_FRAME,
    text: DOMAIN_TEXT,
  },
  {
    type: 'query_invalid',
    name: /^builtins\.(Assertion|Attribute|Index|Key)Error$/,
    message: /^(Domains to normalize|string index out of range|'\w+' object has no attribute|-?\d+$)/,
    frame: DOMAIN_FRAME,
    text: DOMAIN_TEXT,
  },
  { type: 'query_invalid', name: /\.AssertionError$/, message: /^Domains to normalize/, text: DOMAIN_TEXT },
  {
    type: 'query_invalid',
    name: /\.(ValueError|TypeError)$/,
    message: /^(Domain\(\) invalid (item in domain|argument type)|Invalid leaf [^(])/,
    text: DOMAIN_TEXT,
  },

  // Fields, domains, operators, orders, groupings.
  {
    type: 'query_invalid',
    name: /\.(ValueError|TypeError|AssertionError|UserError)$/,
    message:
      /^(Invalid (field|leaf|operator|domain|term|"order"|order|groupby|group by|aggregat|granularity|property)|Unknown (field|operator|aggregat)|Domains? ?\(|Domain \[|Domains? to normalize|This domain is|Cannot convert [^\n]* to SQL|Order a property|Fields in 'groupby'|Field \S+ is not a stored field|Aggregat\w* )/i,
  },
  {
    // A condition without three parts (17, 18), and the operator `any` before 17 (docs/odoo-facts.md#domain-any).
    type: 'query_invalid',
    name: /\.(ValueError|TypeError)$/,
    message: /values to unpack \(expected 3\b|^unhashable type: '(list|dict)'/,
    frame: DOMAIN_OR_NO_FRAME,
  },
  { type: 'query_invalid', name: /\.ValueError$/, frame: DATE_FRAME, text: DATE_TEXT },
  // All other type errors and value errors while a domain is read.
  { type: 'query_invalid', name: /^builtins\.(Type|Value)Error$/, frame: DOMAIN_FRAME },

  // Arguments of the method, and values that a field cannot have.
  { type: 'arguments_invalid', name: /\.UnprocessableEntity$/ },
  {
    type: 'arguments_invalid',
    name: /\.TypeError$/,
    message:
      /(got an unexpected keyword argument|missing (\d+|a) required ((positional|keyword-only) )?argument|positional arguments? but \d+|^too many positional arguments|\bmultiple values for|got some positional-only|parameter is positional only|^cannot call \S+ with ids$|argument after \*\*? must be)/,
  },
  {
    type: 'arguments_invalid',
    name: /\.TypeError$/,
    message:
      /(^int\(\) argument must be|format: a real number is required|^unhashable type|not supported between instances of|unsupported operand type)/,
    frame: ARGUMENT_OR_NO_FRAME,
  },
  {
    type: 'arguments_invalid',
    name: /\.IndexError$/,
    message: /^(tuple|list) index out of range/,
    frame: /^$|, in (_?call_kw\w*|execute\w*|dispatch)$/,
    text: 'Arguments are missing: the ids, or the values of a `create`, must be in `params`.',
  },
  {
    type: 'arguments_invalid',
    name: /\.ValueError$/,
    message: /^A string literal cannot contain NUL/,
    text: 'A text has a NUL character, which PostgreSQL cannot store: leave it out.',
  },
  {
    type: 'arguments_invalid',
    name: /\.ValueError$/,
    message:
      /^(Expected singleton|Wrong value for|time data .* does not match format|unconverted data remains)/,
  },
  {
    type: 'arguments_invalid',
    name: /\.ValueError$/,
    message:
      /^(invalid literal for int|could not convert string to float|dictionary update sequence|(not enough|too many) values to unpack|Invalid isoformat string)/,
    frame: ARGUMENT_OR_NO_FRAME,
  },
  {
    type: 'arguments_invalid',
    name: /\.AttributeError$/,
    message: /^'(str|int|float|bool|list|dict|tuple)' object has no attribute/,
    frame: ARGUMENT_OR_NO_FRAME,
  },
  {
    // An object instead of an x2many command: Odoo looks up the first item of a command in it.
    type: 'arguments_invalid',
    name: /^builtins\.KeyError$/,
    message: /^-?\d+$/,
    frame: /[\\/](odoo[\\/]fields|orm[\\/]fields\w*)\.py", line \d+, in /,
  },
  // Ids as text in 16. Later versions find no record (docs/odoo-facts.md#faults-16).
  { type: 'arguments_invalid', name: /\.AccessError$/, message: /^Database fetch misses ids/ },
  { type: 'arguments_invalid', name: /\.UserError$/, message: /^Invalid language code/ },

  // While 16 formats the message of a violated constraint, it raises KeyError (docs/odoo-facts.md#faults-16).
  {
    type: 'validation_error',
    name: /^builtins\.KeyError$/,
    message: /^'?lang'?$/,
    text: 'A constraint was violated: a value must be unique or fails a check. This version of Odoo does not say which.',
  },

  // Rows that match by class only.
  { type: 'access_error', name: /^odoo\.exceptions\.AccessError$/ },
  { type: 'record_missing', name: /^odoo\.exceptions\.MissingError$/ },
  { type: 'validation_error', name: /^odoo\.exceptions\.ValidationError$/ },
  { type: 'redirect_warning', name: /^odoo\.exceptions\.RedirectWarning$/ },
  { type: 'user_error', name: /^odoo\.exceptions\.(UserError|Warning|except_orm)$/ },
];
