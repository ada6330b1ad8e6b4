/** Addresses of records in Odoo's own pages, for people. */

/**
 * The form of a record, with `{id}` in place of the id. Servers of all versions understand it: those from 18 on
 * redirect it to their own form.
 */
export function linkRecords(url: string, model: string): string {
  return `${url.replace(/\/+$/, '')}/web#id={id}&model=${model}&view_type=form`;
}

/** The form of the only record, or of any of several. */
export function linkIds(url: string, model: string, ids: readonly number[] = []): string {
  const link = linkRecords(url, model);
  return ids.length === 1 ? link.replace('{id}', String(ids[0])) : link;
}
