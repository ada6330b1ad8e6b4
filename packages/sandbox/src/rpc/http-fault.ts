/** The exceptions of the web framework, with their HTTP status as second argument (docs/odoo-facts.md#json2-status). */
import { Fault } from '../orm/fault.ts';

const statuses = {
  BadRequest: 400,
  ClientDisconnected: 400,
  Unauthorized: 401,
  NotFound: 404,
  UnprocessableEntity: 422,
};

export function httpFault(name: keyof typeof statuses, message: string): Fault {
  return new Fault(`werkzeug.exceptions.${name}`, message, [message, statuses[name]]);
}
