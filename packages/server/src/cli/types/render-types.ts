/**
 * Prints models as TypeScript. The same models give the same text, so that it can be committed and compared. Knows
 * neither the proxy nor files.
 */
import { compareNames, nameTypes } from './name-types.ts';
import type { DescribedField, DescribedModel } from './read-models.ts';

/**
 * Longer selections, such as all time zones, change often and make the compiler slow. Such a field has the type
 * `string`.
 */
export const SELECTION_VALUES_MAX = 200;
const LINE_COLUMNS_MAX = 110;

export function renderTypes(models: readonly DescribedModel[]): string {
  const sorted = models.toSorted((one, other) => compareNames(one.name, other.name));
  const names = nameTypes(
    sorted.map(({ name }) => name),
    ['Models', METHODS, 'ValueForm', ...SUFFIXES],
    SUFFIXES,
  );
  const rows = sorted.map(({ name }) => `  ${quote(name)}: ${names.get(name)};`);
  const imports = ['Create', 'Read', 'Update', 'ValueForm'];
  if (sorted.some(({ methods }) => methods.length > 0)) imports.splice(1, 0, METHODS);
  const parts = [
    HEAD.replace('…', imports.join(', ')),
    `export interface Models {\n${rows.join('\n')}\n}\n`,
    ...sorted.map((model) => renderModel(model, names.get(model.name) as string)),
  ];
  return parts.join('\n');
}

const HEAD = `/** Models of Odoo, written by \`erp-proxy types\`. Changes by hand are lost. */
import type { … } from '@erp-proxy/client';
`;

/** The type that names the methods of a model. */
const METHODS = 'Methods';

function renderModel({ name, label, fields, methods }: DescribedModel, title: string): string {
  const sorted = fields.toSorted((one, other) => compareNames(one.name, other.name));
  const members = sorted.map((field) => `${renderComment(describe(field), '  ')}  ${renderField(field)}\n`);
  const derived = SUFFIXES.map(
    (suffix) =>
      `export type ${title}${suffix}<Form extends ValueForm = 'odoo'> = ${suffix}<Models, ${quote(name)}, Form>;`,
  );
  const comment = renderComment(label === null ? name : `${label} (${name})`, '');
  return `${comment}export interface ${title}${renderMethods(methods)} {\n${members.join('')}}\n${derived.join('\n')}\n`;
}

function renderMethods(methods: readonly string[]): string {
  return methods.length === 0 ? '' : ` extends ${METHODS}<${methods.map(quote).join(' | ')}>`;
}

function renderField(field: DescribedField): string {
  const members = [`type: ${quote(field.type)}`];
  if (field.relation !== null) members.push(`relation: ${quote(field.relation)}`);
  if (field.hasTextIds) members.push("ids: 'text'");
  const values = [...new Set(field.values.map(renderValue))].sort(compareNames);
  if (values.length > 0 && values.length <= SELECTION_VALUES_MAX)
    members.push(`values: ${values.join(' | ')}`);
  if (field.isRequired) members.push('required: true');
  if (field.lacksDefault) members.push('noDefault: true');
  if (field.isReadonly) members.push('readonly: true');
  return `${renderName(field.name)}: { ${members.join('; ')} };`;
}

function describe({ label, help }: DescribedField): string {
  return [label, help].filter((text) => text !== null).join('\n\n');
}

/** Keeps the lines as they are: wrapped lines would change more often than their text. */
function renderComment(text: string, indent: string): string {
  const lines = text
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trim());
  const [only = ''] = lines;
  const short = `${indent}/** ${only} */\n`;
  if (lines.length === 1 && short.length <= LINE_COLUMNS_MAX) return only === '' ? '' : short;
  const body = lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}\n`);
  return `${indent}/**\n${body.join('')}${indent} */\n`;
}

const SUFFIXES = ['Read', 'Create', 'Update'] as const;

function renderName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

function renderValue(value: string | number): string {
  return typeof value === 'number' ? String(value) : quote(value);
}

/** Prints a string literal in single quotes. */
function quote(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;
}
