/** `instances import`: stores the instances of a file. Checks the whole file first; stores all of them or none. */
import type { Admin } from '@erp-proxy/admin';
import { AdminError } from '@erp-proxy/admin/errors';
import type { InstanceInput, InstanceView } from '@erp-proxy/contract';
import { InputError, readInput } from '@erp-proxy/control/instances';
import type { LineError } from './apply/document.ts';
import { type Command, CommandError, type CommandInput, printResult } from './command.ts';
import { explainProblem } from './explain-problem.ts';
import { type Row, readRows } from './import/read-rows.ts';
import { printLineErrors } from './read-policy.ts';
import { readText } from './read-text.ts';
import { ADMIN_OPTIONS, listAll, useAdmin } from './use-admin.ts';

interface Planned {
  line: number;
  input: InstanceInput;
  /** True if the instance is stored already. */
  isStored: boolean;
}

export const importCommand: Command = {
  name: 'instances import',
  arguments: ['<file>'],
  summary:
    'Store the instances of a CSV file (.csv), or of a list in YAML or JSON, such as the databases that odoo.com lists. Those that are stored already stay as they are.',
  options: {
    'dry-run': { description: 'Check the file, show what would be stored, and store nothing.' },
    tags: { value: 'name,…', description: 'Further tags of all instances of the file.' },
    identity: {
      choices: ['shared', 'person'],
      description: 'Identity of the instances for which the file gives none. `person`: they need no key.',
    },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const [file = ''] = input.arguments;
    const text = readText(file, await input.readInput(file));
    const read = readRows(text, /\.csv$/i.test(file));
    if ('errors' in read) throw refuse(file, read.errors);
    const isDryRun = input.isSet('dry-run');
    return useAdmin(
      input,
      async (admin) => {
        const stored = new Map<string, InstanceView>();
        for await (const view of listAll(admin.listInstances, {})) stored.set(view.name, view);
        const { planned, errors } = plan(read.rows, stored, input);
        if (errors.length > 0) throw refuse(file, errors);
        const added = planned.filter(({ isStored }) => !isStored);
        if (!isDryRun) await storeAll(file, admin, added);
        const instances = planned.map(({ input: { name }, isStored }) => ({
          name,
          state: isStored ? 'kept' : isDryRun ? 'planned' : 'added',
        }));
        const lines = added.map(({ input: { name, url, db } }) => `+ ${name}  ${url}  ${db}\n`);
        const outcome = isDryRun ? 'would be stored. Nothing is stored' : 'are stored';
        const total = `${added.length} instances ${outcome}; ${planned.length - added.length} were stored already.\n`;
        return printResult(input, { dry_run: isDryRun, instances }, `${lines.join('')}${total}`);
      },
      isDryRun ? 'plan' : 'create',
    );
  },
};

function refuse(file: string, errors: readonly LineError[]): CommandError {
  return new CommandError(`${printLineErrors(file, errors)}\nNothing is stored.`);
}

function plan(
  rows: readonly Row[],
  stored: ReadonlyMap<string, InstanceView>,
  { option }: CommandInput,
): { planned: Planned[]; errors: LineError[] } {
  const tags = option('tags')?.split(',') ?? [];
  const identity = option('identity');
  const lines = new Map<unknown, number>();
  const planned: Planned[] = [];
  const errors: LineError[] = [];
  for (const { line, lineOf, values } of rows) {
    const own = Array.isArray(values['tags']) || values['tags'] === undefined ? values['tags'] : null;
    const instance = {
      ...(identity === undefined ? {} : { identity }),
      ...values,
      ...(tags.length === 0 || own === null ? {} : { tags: [...new Set([...(own ?? []), ...tags])] }),
    } as InstanceInput;
    const { name } = instance;
    const first = lines.get(name);
    const view = stored.get(name);
    if (first !== undefined)
      errors.push({ line: lineOf('name'), message: `line ${first} has the same \`name\`` });
    else if (view !== undefined) {
      const other = (['url', 'db'] as const).find((member) => !isSame(view[member], instance[member]));
      if (other !== undefined) {
        const message = `an instance of this name is stored with another \`${other}\`: take another name`;
        errors.push({ line: lineOf(other), message });
      }
    } else errors.push(...findErrors(instance, lineOf));
    lines.set(name, line);
    planned.push({ line, input: instance, isStored: view !== undefined });
  }
  return { planned, errors };
}

function isSame(one: string, other: unknown): boolean {
  return typeof other === 'string' && one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

function findErrors(instance: InstanceInput, lineOf: Row['lineOf']): LineError[] {
  try {
    readInput(instance);
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.invalidMembers.map(({ path, message }) => ({
      line: lineOf(path),
      message: path === '' ? message : `\`${path}\` ${message}`,
    }));
  }
}

/** If one cannot be stored, removes those before it. */
async function storeAll(file: string, admin: Admin, added: readonly Planned[]): Promise<void> {
  const done: string[] = [];
  for (const { line, input } of added) {
    try {
      await admin.createInstance(input);
      done.push(input.name);
    } catch (error) {
      for (const name of done) await admin.removeInstance(name);
      if (!(error instanceof AdminError)) throw error;
      const message = `${explainProblem(error.problem)}\nNothing is stored.`;
      throw new CommandError(`${file}:${line}: ${message}`, 1);
    }
  }
}
