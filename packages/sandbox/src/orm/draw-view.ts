/** Views: the sandbox generates a plain one from the fields of the model. */
import type { JsonObject } from '../json/value.ts';
import { describeFields } from './describe-field.ts';
import type { Call, Field, Model } from './model.ts';

export function describeViewFields({ environment, model }: Call): JsonObject {
  const { stamp } = environment.personality.fieldAttributes;
  const all = describeFields(environment, model, viewAttributes);
  const shown = new Set([...pickViewFields(model).map((field) => field.name), 'id', stamp]);
  const fields = Object.fromEntries(Object.entries(all).filter(([name]) => shown.has(name)));
  return environment.personality.fieldAttributes.viewsNestFields ? { fields } : fields;
}

function pickViewFields(model: Model): Field[] {
  return [...model.fields.values()].filter((field) => !field.readonly && !field.compute).slice(0, 12);
}

export function drawView(model: Model, type: string): { arch: string; id: number; model: string } {
  const fields = pickViewFields(model)
    .map((field) => `    <field name="${field.name}"${field.required ? ' required="True"' : ''}/>\n`)
    .join('');
  return { arch: `<${type} string="${model.description}">\n${fields}</${type}>`, id: 532, model: model.name };
}

const viewAttributes =
  'aggregator change_default context currency_field domain groupable groups group_operator help name readonly relation relation_field required searchable selection sortable store string translate trim type'.split(
    ' ',
  );
