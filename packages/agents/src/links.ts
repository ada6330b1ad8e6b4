/** Builds links to records in Odoo's own pages, for people. */

/**
 * Link to the form of a record, with `{id}` in place of the id. Servers of all versions understand it: from 18 on they
 * redirect to their own form.
 */
export function linkRecords(url: string, model: string): string {
  return `${url.replace(/\/+$/, '')}/web#id={id}&model=${model}&view_type=form`;
}

/**
 * Link to the form of the record, if there is one id. Otherwise as {@link linkRecords}, with `{id}` in place of the id.
 */
export function linkIds(url: string, model: string, ids: readonly number[] = []): string {
  const link = linkRecords(url, model);
  return ids.length === 1 ? link.replace('{id}', String(ids[0])) : link;
}
