/** Reports that Odoo prints as PDF, and the portal page of an order, which prints one of them. */
import { randomUUID } from 'node:crypto';
import { isTrue, type Json } from '../json/value.ts';
import { boolean, char, many2one, selection } from '../orm/field.ts';
import { ensureOne, listRows } from '../orm/methods/record-methods.ts';
import type { Call, FieldSpec, Method, ModelSpec } from '../orm/model.ts';
import { writeRows } from '../orm/write.ts';

const system = ['base.group_system'];
const types = [
  ['qweb-html', 'HTML'],
  ['qweb-pdf', 'PDF'],
  ['qweb-text', 'Text'],
] as const;

export const report: ModelSpec = {
  name: 'ir.actions.report',
  description: 'Report Action',
  order: 'name, id',
  access: { read: ['base.group_user'], write: system, create: system, unlink: system },
  fields: {
    name: char('Action Name', { required: true, translate: true }),
    xml_id: char('External ID', { readonly: true, store: false, searchable: false, sortable: false }),
    // All reports are offered in the menu of their model.
    binding_model_id: many2one('Binding Model', 'ir.model', {
      ondelete: 'cascade',
      readonly: false,
      store: true,
      compute: ({ store }, row) =>
        [...store.table('ir.model').where('model', row['model'] ?? null)][0]?.['id'] ?? null,
    }),
    model: char('Model Name', { required: true }),
    report_type: selection('Report Type', types, { required: true, default: 'qweb-pdf' }),
    report_name: char('Template Name', { required: true }),
    attachment_use: boolean('Reload from Attachment'),
    attachment: char('Save as Attachment Prefix'),
  },
};

/** The fields of a model whose records have a portal page. */
export const portalFields: Readonly<Record<string, FieldSpec>> = {
  access_token: char('Security Token', { copy: false }),
};

/** `path` is that of the page, without the id. */
export function createPortalMethods(path: string): Readonly<Record<string, Method>> {
  return {
    get_portal_url: {
      owner: 'PortalMixin',
      kind: 'record',
      parameters: 'suffix=None, report_type=None, download=None, query_string=None, anchor=None',
      run: (call) => printPortalUrl(path, call),
    },
  };
}

function printPortalUrl(path: string, call: Call): string {
  const id = ensureOne(call);
  const [row] = listRows(call);
  const token = row!['access_token'] ?? addToken(call, id);
  const { suffix, report_type: type, download, query_string: query, anchor } = call.values;
  const given = (value: Json | undefined, printed: string) => (isTrue(value ?? null) ? printed : '');
  return [
    `${path}/${id}${given(suffix, String(suffix))}?access_token=${String(token)}`,
    given(type, `&report_type=${String(type)}`),
    given(download, '&download=true'),
    given(query, String(query)),
    given(anchor, `#${String(anchor)}`),
  ].join('');
}

/** Odoo writes the token as its superuser: reading the record is enough to get one. */
function addToken({ environment, model }: Call, id: number): string {
  const token = randomUUID();
  writeRows(environment.sudo(), model, [id], { access_token: token });
  return token;
}
