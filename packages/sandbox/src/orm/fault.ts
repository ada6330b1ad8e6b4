/**
 * An exception raised by Odoo: its Python class, its arguments, and the place that raised it. Independent of the
 * protocol.
 */
import type { Json } from '../json/value.ts';

export class Fault extends Error {
  override readonly name: string;
  readonly arguments: readonly Json[];
  /** The file (below Odoo's folder) and the function that raised it; null: the usual place for its class. */
  place: readonly [file: string, name: string] | null = null;

  constructor(name: string, message: string, args: readonly Json[] = [message]) {
    super(message);
    this.name = name;
    this.arguments = args;
  }

  /** Returns this exception, raised at this place. */
  at(file: string, name: string): this {
    this.place = [file, name];
    return this;
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
