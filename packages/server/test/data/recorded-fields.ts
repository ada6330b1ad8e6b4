/** Fields of models as real servers of Odoo describe them, with demo data (`fields_get`). */
import { readFileSync } from 'node:fs';

interface RecordedField {
  type: string;
  relation?: string;
  related?: string;
  store: boolean;
  depends: string[];
}
/** By model and field. */
export type RecordedModels = Map<string, Map<string, RecordedField>>;

export const RECORDED_VERSIONS = ['16.0', '18.0', '19.0'];

/** Each line is a model with its fields. Parts at the end of `name|type|relation|related|computed|depends` may lack. */
export function readRecordedModels(version: string): RecordedModels {
  const text = readFileSync(new URL(`fields-${version}.txt`, import.meta.url), 'utf8');
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const [model = '', ...fields] = line.split(' ');
        return [model, new Map(fields.map(readField))];
      }),
  );
}

function readField(text: string): [string, RecordedField] {
  const [name = '', type = '', relation, related, computed, depends] = text.split('|');
  return [
    name,
    {
      type,
      ...(relation && { relation }),
      ...(related && { related }),
      store: !computed,
      depends: depends ? depends.split(',') : [],
    },
  ];
}
