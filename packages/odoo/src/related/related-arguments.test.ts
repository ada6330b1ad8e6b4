/**
 * Every parameter of the recorded signatures of Odoo 14 to 19 is classified: it can name fields of related records, or
 * it cannot.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readArguments } from '../../test/read-arguments.ts';
import { isGrouping } from '../grouping.ts';
import { findSensitivity } from '../sensitive/sensitive-methods.ts';
import { RELATED_ARGUMENTS } from './related-arguments.ts';
import { findRelatedRead } from './related-reads.ts';

/** Method → parameter → versions: the union over all models, from the recorded signatures and lists of parameters. */
const RECORDED: Record<string, Record<string, string>> = JSON.parse(
  readFileSync(new URL('../../test/data/parameters-14-to-19.json', import.meta.url), 'utf8'),
);

/** Sensitive methods, and methods whose strings are all searched. */
const isCheckedOtherwise = (method: string) =>
  isGrouping(method) || findSensitivity('res.partner', method) !== null;

/** Parameters that lead to no field of a related record, whatever the method. */
const HARMLESS: Record<string, string> = {
  'domain args additional_domain company_domain': 'chooses records and gives nothing of them',
  'order limit offset count count_limit reverse key operator': 'orders or bounds what is chosen',
  'fields allfields attributes load fnames fields_list default_fields field_names':
    'fields of the own model: Odoo refuses a dot',
  'field_name price_type number_fname tracked_fields initial initial_values':
    'one field of the own model, or several',
  'vals vals_list values values_list data default update_vals excluded translations langs source_lang':
    'is written: related-writes.ts',
  'views options **options view_id view_type toolbar submenu help': 'describes a view',
  '*args **kwargs **read_kwargs **overrides **act_values **additional_values context ctx':
    'has the parameters of the method that it stands for, or a context',
  'func prefetch_ids env flag user origin ref new before create records flush ids company':
    'of methods that give record sets, which Odoo 18 and earlier print as their ids',
  'act_type_xmlid act_type_xmlids attachment_ids author_id channel_id channel_ids country currency force_partner_id invoices meeting_id meeting_ids new_parent_message new_thread new_user_id next_id opportunities parent_id partner_id partner_ids record res_id res_ids subtype_id subtype_ids subtype_xmlid team_id template_id thread_id uom user_id user_ids':
    'names records by their ids or external ids',
  'add_sign attachments auto_commit body body_is_html custom_values email_from email_layout_xmlid emails feedback message message_dict message_type model msg_dict note record_name save_original strip_attachments subject summary views_or_xmlid':
    'is a message, or is about one',
  'adr_pref after_days aggregates anchor assert_valid_email auto_unfold auto_unlink create_missing date_deadline download duration email expand_limit expand_orderby expiration force_format from_cron groupby grouping_sets having include_draft lazy login meeting_date meeting_subject name new_passwd number old_passwd opening_info orderby partner_gid passwd progress_bar query query_string report_type search search_term server_type signup_type smart_calendar suffix timeout token unfold_read_default_limit vat':
    'is a text, a number, a date or a switch',
  'operation raise_exception groups group_ext_id access_uid model_name': 'asks for a right',
};

const HARMLESS_NAMES = new Set(Object.keys(HARMLESS).flatMap((names) => names.split(' ')));

test('every parameter of every recorded method is classified', () => {
  const open = Object.entries(RECORDED)
    .filter(([method]) => !isCheckedOtherwise(method))
    .flatMap(([method, parameters]) => Object.keys(parameters).map((name) => [method, name] as const))
    .filter(([method, name]) => {
      const isListed = RELATED_ARGUMENTS.some((row) => row.name === name && row.methods.includes(method));
      return !isListed && !HARMLESS_NAMES.has(name);
    });
  expect(open.map((pair) => pair.join(' '))).toEqual([]);
});

test('every argument of the recorded methods that can name such fields is found, by position and by name', () => {
  const values = {
    specification: '{"user_ids": {"fields": {"login": {}}}}',
    paths: '["user_ids.login"]',
    columns: '["user_ids/login"]',
    specifications: '{"a": 1}',
    whole: '{"a": 1}',
  };
  for (const { methods, name, position, form } of RELATED_ARGUMENTS) {
    for (const method of methods) {
      const named = readArguments('[]', `{"${name}": ${values[form]}}`);
      expect([method, name, findRelatedRead('sale.order', method, named, null)]).toEqual([
        method,
        name,
        'fields',
      ]);
      if (position === null) continue;
      const placed = readArguments(`[${'0, '.repeat(position)}${values[form]}]`);
      expect([method, position, findRelatedRead('sale.order', method, placed, null)]).toEqual([
        method,
        position,
        'fields',
      ]);
    }
  }
});

test.each(RELATED_ARGUMENTS.filter(({ methods }) => methods.some((method) => method in RECORDED)))(
  '$methods.0 takes $name in Odoo $versions',
  ({ methods, name, versions }) => {
    const [first, last = first] = versions.split(' to ');
    for (const method of methods.filter((each) => each in RECORDED)) {
      const recorded = RECORDED[method] ?? {};
      // Methods of the module web, which no recorded model overrides with other names.
      if (!(name in recorded)) expect(Object.keys(recorded)).toContain('**kwargs');
      else
        expect(listVersions(recorded[name])).toEqual(
          expect.arrayContaining(listVersions(`${first}-${last}`)),
        );
    }
  },
);

/** `14-16` or `14,15` or `19`. */
function listVersions(text = ''): number[] {
  return text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
