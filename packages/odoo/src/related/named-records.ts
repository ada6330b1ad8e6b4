/**
 * Fields by which a record names another one of any model, whose name Odoo then shows (`res_name`, `record_name`), as
 * data. From the many2one_reference fields and the pairs of a model and an id in Odoo Community 14 to 19, which
 * scripts/odoo-tables/named_records.py lists for the test. Models whose writes must be named, such as
 * mail.compose.message, can be left out. Values of reference fields show no name: check-paths.ts stops paths there.
 */
export interface NamedRecord {
  /**
   * `model`: the name of the record's model. `model_id`: the id of the model in `ir.model`. `id`: the id of the record.
   */
  names: 'model' | 'model_id' | 'id';
  /** The field of the same record that has the name of the model. */
  by: string;
}

/** The field that makes a file of `ir.attachment` the value of a field of the record to which the file belongs. */
export const FILE_FIELD = { model: 'ir.attachment', name: 'res_field', by: 'res_model' };

/** The member among the values of a property that names the model to whose records the property leads. */
export const COMODEL = 'comodel';

const RES_MODEL = { res_model: ['res_model_id', 'res_id'] };
const MODEL = { model: ['res_id'] };

/**
 * By model: each field that has the name of another model, with the fields for the id of that model and of its record.
 */
const PAIRS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'calendar.event': RES_MODEL,
  'data_recycle.record': { res_model_name: ['res_model_id', 'res_id'] },
  'ir.attachment': RES_MODEL,
  'ir.model.data': MODEL,
  'loyalty.history': { order_model: ['order_id'] },
  'mail.activity': RES_MODEL,
  'mail.activity.schedule': { res_model: ['res_model_id', 'res_ids'] },
  'mail.followers': RES_MODEL,
  'mail.followers.edit': { res_model: ['res_ids'] },
  'mail.message': MODEL,
  'mail.scheduled.message': MODEL,
  'mail.wizard.invite': RES_MODEL,
  'mailing.trace': MODEL,
  'rating.rating': {
    ...RES_MODEL,
    parent_res_model: ['parent_res_model_id', 'parent_res_id'],
  },
  'snailmail.letter': MODEL,
  // Models with the fields of an attachment or a message (`_inherits`).
  'mail.group.message': MODEL,
  'mrp.document': RES_MODEL,
  'product.document': RES_MODEL,
  'quotation.document': RES_MODEL,
};

const BY_FIELD: ReadonlyMap<string, NamedRecord> = new Map(
  Object.entries(PAIRS).flatMap(([model, pairs]) =>
    Object.entries(pairs).flatMap(([by, others]) =>
      [by, ...others].map((field): [string, NamedRecord] => {
        const names = field === by ? 'model' : field.endsWith('model_id') ? 'model_id' : 'id';
        return [`${model} ${field}`, { names, by }];
      }),
    ),
  ),
);

/** What the field of the model names; null: no record. */
export function findNamedRecord(model: string, field: string): NamedRecord | null {
  return BY_FIELD.get(`${model} ${field}`) ?? null;
}

/** The names of all fields that name a record or its model. */
export const NAMING_FIELDS: readonly string[] = [
  FILE_FIELD.name,
  ...[...BY_FIELD.keys()].map((key) => key.slice(key.indexOf(' ') + 1)),
];
