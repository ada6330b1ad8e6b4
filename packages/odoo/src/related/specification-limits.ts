/**
 * Whether a specification of fields bounds the records of its x2many fields: `{"order_line": {"fields": {"name": {}},
 * "limit": 80}}` (`web_read` of Odoo 17 to 19). Independent of policies.
 */
import { type JsonSpan, readInteger, readMembers } from '@erp-proxy/json';
import { type Arguments, findArgument, isLeftOut } from '../arguments.ts';
import { listRelatedArguments } from './related-arguments.ts';
import { hasPath } from './related-reads.ts';

/** Maximum number of bytes of all `fields` together. The bytes of an inner level are read again, and count again. */
const BYTES_MAX = 128 * 1024;

/**
 * True if a field of the specification can give more than `max` records for each record that is read. Limits of fields
 * within each other are multiplied. Only the types of fields tell whether a field leads to several records, so this
 * applies to every field with `fields`. Odoo ignores the limit of a many2one field. A path (`onchange` of 14 to 16,
 * `export_data`) has no limit.
 */
export function hasUnboundedField(method: string, call: Arguments, max: number): boolean {
  const counter = new RelatedCounter(call.bytes);
  return listRelatedArguments(method).some(({ name, position, form }) => {
    // The only path of another method leads to one definition.
    if (form === 'whole' || (form === 'paths' && method !== 'onchange')) return false;
    return findArgument(call, position, name).some((value) =>
      form === 'paths' || form === 'columns'
        ? hasPath(call.bytes, value, form)
        : !(counter.count(form, value) <= max),
    );
  });
}

/** Finds the largest product of limits of nested fields. NaN: a field has no limit. */
class RelatedCounter {
  readonly #bytes: Uint8Array;
  #bytesLeft = BYTES_MAX;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  count(form: string, value: JsonSpan): number {
    return form === 'specifications'
      ? this.#largest(value, (specification) => this.#countIn(specification))
      : this.#countIn(value);
  }

  #countIn(specification: JsonSpan): number {
    return this.#largest(specification, (value) => this.#countOf(value));
  }

  /** The number of records that one field can give. */
  #countOf(value: JsonSpan): number {
    if (value.kind !== 'object') return 0;
    const members = readMembers(this.#bytes, value);
    const fields = members.filter(({ name, value: given }) => name === 'fields' && !isLeftOut(given));
    if (fields.length === 0) return 0;
    // Odoo refuses a member that is given twice, but nothing here relies on the refusal.
    const limits = members.filter(({ name }) => name === 'limit');
    const limit = Math.max(...limits.map(({ value: given }) => this.#readLimit(given)));
    // The maximum of no limits is -Infinity.
    if (!(limit >= 0)) return Number.NaN;
    this.#bytesLeft -= fields.reduce((sum, { value: { start, end } }) => sum + end - start, 0);
    if (this.#bytesLeft < 0) return Number.NaN;
    return limit * Math.max(1, ...fields.map(({ value: inner }) => this.#countIn(inner)));
  }

  /** A negative limit leaves out the last records only. */
  #readLimit(value: JsonSpan): number {
    const limit = readInteger(this.#bytes, value);
    return typeof limit === 'number' && limit >= 0 ? limit : Number.NaN;
  }

  /** In 14 to 16, a specification is a list of names. */
  #largest(object: JsonSpan, countOf: (value: JsonSpan) => number): number {
    if (object.kind !== 'object') return 0;
    return readMembers(this.#bytes, object).reduce((most, { value }) => Math.max(most, countOf(value)), 0);
  }
}
