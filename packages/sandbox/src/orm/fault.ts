/** An exception as Odoo raises it: the Python class name and its arguments. Knows no protocol. */
import type { Json } from '../json/value.ts';

export class Fault extends Error {
  override readonly name: string;
  readonly arguments: readonly Json[];

  constructor(name: string, message: string, args: readonly Json[] = [message]) {
    super(message);
    this.name = name;
    this.arguments = args;
  }
}

export const accessDenied = (message = 'Access Denied') => new Fault('odoo.exceptions.AccessDenied', message);
export const accessError = (message: string) => new Fault('odoo.exceptions.AccessError', message);
export const userError = (message: string) => new Fault('odoo.exceptions.UserError', message);
export const validationError = (message: string) => new Fault('odoo.exceptions.ValidationError', message);
export const typeError = (message: string) => new Fault('builtins.TypeError', message);
export const valueError = (message: string) => new Fault('builtins.ValueError', message);
export const attributeError = (message: string) => new Fault('builtins.AttributeError', message);
export const keyError = (message: string) => new Fault('builtins.KeyError', message);
