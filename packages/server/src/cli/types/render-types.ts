/**
 * Prints models as TypeScript. The same models give the same text, so that it can be committed and compared. Knows
 * neither the proxy nor files.
 */
import type { DescribedField, DescribedModel } from './read-models.ts';

/**
 * Longer selections, such as all time zones, change often and make the compiler slow. Such a field has the type
 * `string`.
 */
const SELECTION_VALUES_MAX = 200;
const LINE_COLUMNS_MAX = 110;

export function renderTypes(models: readonly DescribedModel[]): string {
  const sorted = models.toSorted((one, other) => compare(one.name, other.name));
  const names = nameInterfaces(sorted);
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
  const sorted = fields.toSorted((one, other) => compare(one.name, other.name));
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
  const values = [...new Set(field.values.map(renderValue))].sort(compare);
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

/** `res.partner` is `ResPartner`. A name that is taken gets a number. */
function nameInterfaces(models: readonly DescribedModel[]): Map<string, string> {
  const taken = new Set<string>(['Models', METHODS, 'ValueForm', ...SUFFIXES]);
  const isFree = (title: string) => !['', ...SUFFIXES].some((suffix) => taken.has(title + suffix));
  return new Map(
    models.map(({ name }) => {
      const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
      const joined = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
      const base = /^[A-Za-z]/.test(joined) ? joined : `Model${joined}`;
      let title = base;
      for (let number = 2; !isFree(title); number++) title = `${base}_${number}`;
      for (const suffix of ['', ...SUFFIXES]) taken.add(title + suffix);
      return [name, title];
    }),
  );
}

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

/** Compares by code unit, so that the order does not depend on the language of the machine. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
