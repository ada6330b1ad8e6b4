/**
 * Prints models as Python, for the client in packages/python. The same models give the same text, so that it can be
 * committed and compared. Knows neither the proxy nor files.
 *
 * A class cannot have every name of a field: Python changes `__last_update` within a class, and a field `str` would
 * hide the type in the lines below it. Such fields are in a base that is made by a call.
 */
import { compareNames, nameTypes } from './name-types.ts';
import type { DescribedField, DescribedModel } from './read-models.ts';
import { SELECTION_VALUES_MAX } from './render-types.ts';

/** The form of values, as the option `values` of the client. */
export type PythonForm = 'odoo' | 'normalized';

const SUFFIXES = ['Read', 'Create', 'Update', 'Field'];
const IMPORTED = [
  'DateValue',
  'Many2one',
  'ModelType',
  'NamedRecord',
  'ReferencedRecord',
  'TimeValue',
  'X2manyChanges',
  'X2manyCommand',
];
const TYPING = ['Any', 'List', 'Literal', 'Sequence', 'Tuple', 'TypedDict'];

const WORDS =
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield str int float bool';
const HIDDEN = new Set(WORDS.split(' '));

export function renderPythonTypes(models: readonly DescribedModel[], form: PythonForm): string {
  const sorted = models.toSorted((one, other) => compareNames(one.name, other.name));
  const names = nameTypes(
    sorted.map(({ name }) => name),
    [...IMPORTED, ...TYPING],
    SUFFIXES,
  );
  const bodies = sorted.map((model) => renderModel(model, names.get(model.name) as string, form));
  const code = bodies.join('').replaceAll(/^ *#.*$/gm, '');
  const used = (list: readonly string[]) => list.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
  const head = [
    `"""Models of Odoo, written by \`erp-proxy types\`. Changes by hand are lost."""`,
    'from __future__ import annotations',
    `from typing import ${used(TYPING).join(', ')}`,
    `from erp_proxy import ${used(IMPORTED).join(', ')}`,
  ];
  return `${head.join('\n\n')}\n${bodies.join('')}`;
}

function renderModel({ name, label, fields }: DescribedModel, title: string, form: PythonForm): string {
  const sorted = fields.toSorted((one, other) => compareNames(one.name, other.name));
  const writable = sorted.filter((field) => !field.isReadonly && field.name !== 'id');
  const isNeeded = (field: DescribedField) => field.lacksDefault && isPlain(field);
  const read = (field: DescribedField) => renderRead(field, form);
  const write = (field: DescribedField) => renderWritten(field, form);
  const needed = writable.filter(isNeeded);
  const optional = writable.filter((field) => !isNeeded(field));
  const literals = sorted.map((field) => `    ${quote(field.name)},\n`).join('');
  return [
    `\n\n${renderComment(label === null ? name : `${label} (${name})`, '')}`,
    renderClass(`${title}Read`, 'TypedDict', '', sorted, read),
    renderClass(`_${title}Values`, 'TypedDict', ', total=False', optional, write),
    renderClass(`${title}Create`, `_${title}Values`, '', needed, write),
    renderClass(`${title}Update`, `_${title}Values`, ', total=False', needed, write),
    literals === '' ? `${title}Field = str\n` : `${title}Field = Literal[\n${literals}]\n`,
    `${title} = ModelType[${['Read', 'Create', 'Update', 'Field'].map((suffix) => title + suffix).join(', ')}](\n    ${quote(name)}\n)\n`,
  ].join('');
}

function renderClass(
  title: string,
  parent: string,
  total: string,
  fields: readonly DescribedField[],
  renderType: (field: DescribedField) => string,
): string {
  const odd = fields.filter((field) => !isPlain(field));
  const rows = fields
    .filter(isPlain)
    .map((field) => `${renderComment(describe(field), '    ')}    ${field.name}: ${renderType(field)}\n`);
  const body = rows.length === 0 ? '    pass\n' : rows.join('');
  if (odd.length === 0) return `class ${title}(${parent}${total}):\n${body}\n\n`;
  const base = `${title.replace(/^_?/, '_')}Other`;
  const members = odd.map(
    (field) =>
      `${renderComment(describe(field), '        ')}        ${quote(field.name)}: ${quote(renderType(field))},\n`,
  );
  const call = `${base} = TypedDict(\n    ${quote(base)},\n    {\n${members.join('')}    },${total === '' ? '' : '\n    total=False,'}\n)\n\n\n`;
  return `${call}class ${title}(${base}${total}):\n${body}\n\n`;
}

/** Whether a class can have a member of this name. */
function isPlain({ name }: DescribedField): boolean {
  return /^[a-z][a-z0-9_]*$/.test(name) && !HIDDEN.has(name);
}

/** Types whose empty value is not `False`. */
const ALWAYS_SET: Readonly<Record<string, string>> = {
  boolean: 'bool',
  integer: 'int',
  float: 'float',
  monetary: 'float',
  one2many: 'List[int]',
  many2many: 'List[int]',
  json: 'Any',
  properties: 'Any',
  properties_definition: 'Any',
};
const TEXTS = ['char', 'text', 'html', 'binary', 'selection', 'date', 'datetime'];

function renderRead(field: DescribedField, form: PythonForm): string {
  const always = ALWAYS_SET[field.type];
  if (always !== undefined) return always;
  const empty = form === 'odoo' ? 'Literal[False]' : 'None';
  return join([renderFilled(field, form), ...(field.isRequired ? [] : [empty])]);
}

function renderFilled(field: DescribedField, form: PythonForm): string {
  const { type, hasTextIds } = field;
  // The proxy does not normalize pairs with texts.
  if (type === 'many2one' && hasTextIds) return 'Tuple[str, str | Literal[False]]';
  if (type === 'many2one') return form === 'odoo' ? 'Many2one' : 'NamedRecord';
  if (type === 'reference') return form === 'odoo' ? 'str' : 'ReferencedRecord';
  if (type === 'many2one_reference') return 'int';
  const values = [...new Set(field.values.map((value) => JSON.stringify(value)))].sort(compareNames);
  if (values.length > 0 && values.length <= SELECTION_VALUES_MAX)
    return `Literal[${values.map((value) => escapeText(value)).join(', ')}]`;
  return TEXTS.includes(type) ? 'str' : 'Any';
}

function renderWritten(field: DescribedField, form: PythonForm): string {
  const { type } = field;
  const isNormalized = form === 'normalized';
  if (type === 'one2many' || type === 'many2many')
    return join(['Sequence[X2manyCommand]', ...(isNormalized ? ['X2manyChanges'] : [])]);
  const always = ALWAYS_SET[type];
  if (always !== undefined) return always;
  const empty = field.isRequired ? [] : isNormalized ? ['None'] : ['Literal[False]', 'None'];
  return join([...listWritten(field, form), ...empty]);
}

function listWritten(field: DescribedField, form: PythonForm): string[] {
  if (field.type === 'many2one')
    return [field.hasTextIds ? 'str' : 'int', ...(form === 'normalized' ? ['NamedRecord'] : [])];
  if (field.type === 'date') return ['DateValue'];
  if (field.type === 'datetime') return ['TimeValue'];
  return [renderFilled(field, form)];
}

function join(types: readonly string[]): string {
  return types.includes('Any') ? 'Any' : types.join(' | ');
}

function describe({ label, help }: DescribedField): string {
  return [label, help].filter((text) => text !== null).join('\n\n');
}

/** Keeps the lines as they are: wrapped lines would change more often than their text. */
function renderComment(text: string, indent: string): string {
  if (text === '') return '';
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trim());
  return lines.map((line) => `${indent}#${line === '' ? '' : ` ${line}`}\n`).join('');
}

function quote(text: string): string {
  return escapeText(JSON.stringify(text));
}

/** Text in JSON is text in Python. Signs that some editors take for the end of a line are escaped. */
function escapeText(text: string): string {
  return text.replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
