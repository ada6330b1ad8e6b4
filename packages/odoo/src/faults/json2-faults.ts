/**
 * Maps the exceptions that only `/json/2` raises to those that `/jsonrpc` raises for the same mistake
 * (docs/odoo-facts.md#json2-status). Tested against the recordings of 19. All other exceptions are the same in both
 * protocols.
 */

/** The parts of the body of a `/json/2` error that the table needs. */
export interface RawFault {
  name: string;
  message: string;
  arguments: unknown[];
}

interface Translation {
  name: string;
  message: RegExp;
  /** The exception class of `/jsonrpc`. */
  becomes: string;
  /** The message of `/jsonrpc`, with `$1` for the group of the pattern. Without it, the message of `/json/2` stays. */
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
    // Messages of inspect.Signature.bind, and of the route if a method takes no ids.
    name: 'werkzeug.exceptions.UnprocessableEntity',
    message:
      /^(cannot call \S+ with ids$|missing a required( keyword-only)? argument|got an unexpected keyword argument|multiple values for argument|too many positional arguments|got some positional-only arguments|'\w+' parameter is positional only)/,
    becomes: 'builtins.TypeError',
  },
];

/** Rewrites the fault as `/jsonrpc` would have raised it. */
export function translateJson2Fault(fault: RawFault): RawFault {
  const row = TRANSLATIONS.find(({ name, message }) => name === fault.name && message.test(fault.message));
  if (row === undefined) return fault;
  const message = row.text === undefined ? fault.message : fault.message.replace(row.message, row.text);
  // The arguments of werkzeug exceptions also contain the status.
  return { name: row.becomes, message, arguments: [message] };
}
