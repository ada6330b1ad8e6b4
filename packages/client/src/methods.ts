/**
 * Odoo's methods that only read, and the routes of changes and jobs. A call of any other method counts as a write and
 * carries an idempotency key.
 */
const READING = new Set(
  'changes job read search search_read search_count search_fetch name_search name_get read_group formatted_read_group web_read web_search_read web_read_group web_name_search fields_get get_views get_metadata exists has_access check_access check_access_rights'.split(
    ' ',
  ),
);

/** True if the proxy can normalize the values in the method's results. */
export function returnsValues(action: string): boolean {
  return /^(web_)?(search_)?read$/.test(action);
}

export function isReading(action: string): boolean {
  return READING.has(action);
}
