/**
 * The table that says what went wrong from what Odoo printed: class, text, and the place that raised it. Data only,
 * for every version and protocol at once; a new wording is one row. The first row that fits wins, so a row on a text
 * stands before the row on its class.
 */
import type { BusinessErrorType } from '@erp-proxy/contract';

/** A row of {@link FAULT_RULES}: every pattern given must match. */
export interface FaultRule {
  type: BusinessErrorType;
  /** On Odoo's exception class, e.g. `builtins.KeyError`. */
  name?: RegExp;
  /** On Odoo's text. */
  message?: RegExp;
  /**
   * On the innermost frame of the traceback, `File "…", line 1, in name`; empty where there is no traceback or it was
   * cut. Texts can be translated (`context.lang`), frames cannot.
   */
  frame?: RegExp;
  /** Our own text for the caller, where Odoo's says nothing. */
  text?: string;
}

export const FAULT_RULES: readonly FaultRule[] = [
  // Credentials. At authentication Odoo reads the user as itself: the missing record and the user are one (FACTS 4.3).
  {
    type: 'access_denied',
    name: /\.MissingError$/,
    message: /\bres\.users\((\d+),?\),[^()]*\b\1\)/,
    text: 'Access denied: the database has no such user; check `user_id`.',
  },
  { type: 'access_denied', name: /\.(AccessDenied|SessionExpiredException|Unauthorized)$/ },

  // The database. One that is not Odoo's loads, and then lacks its models (FACTS 4.2).
  { type: 'database_missing', name: /^builtins\.KeyError$/, message: /^'?(res\.users|ir\.http)'?$/ },
  { type: 'database_missing', name: /^builtins\.AssertionError$/, message: /^Missing database name/ },
  { type: 'database_missing', name: /^psycopg\d?\..*\bInvalidCatalogName$/ },
  {
    // PostgreSQL prints in the language of its own installation.
    type: 'database_missing',
    name: /^psycopg\d?\.OperationalError$/,
    message:
      /\bFATAL:[^\n]*(database "[^\n]*" does not exist|Datenbank [^\n]* existiert nicht|base de données [^\n]* n[’']existe pas|no existe la base de datos|il database [^\n]* non esiste|banco de dados [^\n]* não existe)/,
  },

  // Other transactions. Odoo has tried again itself, and rolled back (FACTS 8.2).
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

  // What the database refused, by the class of its SQLSTATE.
  {
    type: 'validation_error',
    name: /^psycopg\d?\..*\b(UniqueViolation|CheckViolation|NotNullViolation|ForeignKeyViolation|RestrictViolation|ExclusionViolation|IntegrityError)$/,
  },
  {
    type: 'arguments_invalid',
    name: /^psycopg\d?\..*\b(InvalidTextRepresentation|NumericValueOutOfRange|DatetimeFieldOverflow|InvalidDatetimeFormat|StringDataRightTruncation|DatatypeMismatch|CharacterNotInRepertoire|UntranslatableCharacter|InvalidRowCountIn\w+|InvalidParameterValue|DataError)$/,
  },
  {
    type: 'query_invalid',
    name: /^psycopg\d?\..*\b(UndefinedColumn|UndefinedFunction|AmbiguousColumn|AmbiguousFunction|GroupingError|SyntaxError|InvalidRegularExpression|ProgrammingError)$/,
  },
  { type: 'upstream_error', name: /^psycopg\d?\./ },

  // Models and methods. Private ones do not exist for a caller, whatever class says so (FACTS 6.5).
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
    // Of a record, and raised where the method is looked up; deeper it is a fault in Odoo's own code.
    type: 'method_not_found',
    name: /\.AttributeError$/,
    message: /^'[a-z_][a-z0-9_]*(\.[a-z0-9_]+)+' object has no attribute/,
    frame: /^$|, in _?call_kw\w*$/,
  },
  { type: 'method_not_found', name: /\.NameError$/, message: /^Method not available/ },

  // Ids where a domain belongs: `search([3])`, in the words of 16, 17, 18 and 19.
  { type: 'arguments_invalid', name: /\.ValueError$/, message: /invalid item in domain: -?\d+$/ },
  { type: 'arguments_invalid', name: /\.TypeError$/, message: /^object of type '\w+' has no len\(\)/ },
  {
    type: 'arguments_invalid',
    name: /\.TypeError$/,
    message: /^'\w+' object is not (subscriptable|iterable)/,
  },

  // Fields, domains, operators, orders, groupings.
  {
    type: 'query_invalid',
    name: /\.(ValueError|TypeError|AssertionError|UserError)$/,
    message:
      /^(Invalid (field|leaf|operator|domain|term|"order"|order|groupby|group by|aggregat|granularity|property)|Unknown (field|operator|aggregat)|Domains? ?\(|Domain \[|Domains? to normalize|This domain is|Cannot convert [^\n]* to SQL|Order a property|Aggregat\w* )/i,
  },
  {
    // A leaf that has not three parts (17, 18), and the operator `any` before 17 (FACTS 13.15).
    type: 'query_invalid',
    name: /\.(ValueError|TypeError)$/,
    message: /values to unpack \(expected 3\b|^unhashable type: '(list|dict)'/,
    frame: /^$|[\\/](expression|domains|models)\.py"/,
  },

  // Arguments: those of the method, and values that a field cannot take.
  { type: 'arguments_invalid', name: /\.UnprocessableEntity$/ },
  {
    type: 'arguments_invalid',
    name: /\.TypeError$/,
    message:
      /(got an unexpected keyword argument|missing (\d+|a) required ((positional|keyword-only) )?argument|positional arguments? but \d+|^too many positional arguments|\bmultiple values for|got some positional-only|parameter is positional only|^cannot call \S+ with ids$|argument after \*\*? must be|^int\(\) argument must be|format: a real number is required|^unhashable type|not supported between instances of|unsupported operand type)/,
  },
  {
    type: 'arguments_invalid',
    name: /\.IndexError$/,
    message: /^(tuple|list) index out of range/,
    frame: /^$|, in (_?call_kw\w*|execute\w*|dispatch)$/,
    text: 'The arguments are too few: the ids, or the values of a `create`, must be in `params`.',
  },
  {
    type: 'arguments_invalid',
    name: /\.ValueError$/,
    message:
      /^(Expected singleton|Wrong value for|time data .* does not match format|unconverted data remains|invalid literal for int|could not convert string to float|dictionary update sequence|(not enough|too many) values to unpack|Invalid isoformat string)/,
  },
  {
    type: 'arguments_invalid',
    name: /\.AttributeError$/,
    message: /^'(str|int|float|bool|list|dict|tuple)' object has no attribute/,
  },
  // Text ids in 16; later versions find no record (FACTS 13.16).
  { type: 'arguments_invalid', name: /\.AccessError$/, message: /^Database fetch misses ids/ },
  { type: 'arguments_invalid', name: /\.UserError$/, message: /^Invalid language code/ },

  // 16 stumbles over its own text of a broken constraint (FACTS 13.16).
  {
    type: 'validation_error',
    name: /^builtins\.KeyError$/,
    message: /^'?lang'?$/,
    text: 'A constraint was broken: a value must be unique or fails a check. This version of Odoo does not say which.',
  },

  // By class alone.
  { type: 'access_error', name: /^odoo\.exceptions\.AccessError$/ },
  { type: 'record_missing', name: /^odoo\.exceptions\.MissingError$/ },
  { type: 'validation_error', name: /^odoo\.exceptions\.ValidationError$/ },
  { type: 'redirect_warning', name: /^odoo\.exceptions\.RedirectWarning$/ },
  { type: 'user_error', name: /^odoo\.exceptions\.(UserError|Warning|except_orm)$/ },
];
