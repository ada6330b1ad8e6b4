/**
 * The table from the exceptions that only `/json/2` raises to those of `/jsonrpc` for the same mistake
 * (docs/odoo-facts.md#json2-status), held to the recordings of 19. Every other exception is the same in both.
 */

/** The body of an error of `/json/2` as far as it was read. */
export interface RawFault {
  name: string;
  message: string;
  arguments: unknown[];
}

interface Translation {
  name: string;
  message: RegExp;
  /** The exception of `/jsonrpc`. */
  becomes: string;
  /** Its text, with `$1` for what the pattern caught; that of `/json/2` where it is left out. */
  text?: string;
}

const TRANSLATIONS: readonly Translation[] = [
  {
    name: 'werkzeug.exceptions.NotFound',
    message: /^the model '([^']*)' does not exist$/,
    becomes: 'odoo.exceptions.UserError',
    text: "Object $1 doesn't exist",
  },
  {
    name: 'werkzeug.exceptions.NotFound',
    message: /^The method '[^']*' does not exist$/,
    becomes: 'builtins.AttributeError',
  },
  {
    name: 'werkzeug.exceptions.Unauthorized',
    message: /^Invalid apikey$/,
    becomes: 'odoo.exceptions.AccessDenied',
    text: 'Access Denied',
  },
  {
    // What inspect.Signature.bind says, and the route about ids that the method takes none of.
    name: 'werkzeug.exceptions.UnprocessableEntity',
    message:
      /^(cannot call \S+ with ids$|missing a required( keyword-only)? argument|got an unexpected keyword argument|multiple values for argument|too many positional arguments|got some positional-only arguments|'\w+' parameter is positional only)/,
    becomes: 'builtins.TypeError',
  },
];

/** The same fault as `/jsonrpc` would have raised it. */
export function translateJson2Fault(fault: RawFault): RawFault {
  const row = TRANSLATIONS.find(({ name, message }) => name === fault.name && message.test(fault.message));
  if (row === undefined) return fault;
  const message = row.text === undefined ? fault.message : fault.message.replace(row.message, row.text);
  // The exceptions of werkzeug carry their status as well.
  return { name: row.becomes, message, arguments: [message] };
}
