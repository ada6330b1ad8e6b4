/**
 * `apply`: changes policies, keys, instances and subscriptions to match a file. Checks the whole file and the whole
 * plan first.
 */
import { dirname, isAbsolute, join } from 'node:path';
import type { Admin } from '@erp-proxy/admin';
import { AdminError } from '@erp-proxy/admin/errors';
import { clipText, type InstanceView, type KeyView, type SubscriptionView } from '@erp-proxy/contract';
import { type Configuration, readConfiguration } from './apply/configuration.ts';
import type { LineError } from './apply/document.ts';
import { makePlan, type Present, type Step } from './apply/plan.ts';
import { readSecrets } from './apply/secrets.ts';
import { type Created, carryOut, describeDryRun, type Progress } from './carry-out.ts';
import { type Command, CommandError, type CommandInput, printJson } from './command.ts';
import { explainProblem } from './explain-problem.ts';
import { printLineErrors } from './read-policy.ts';
import { readText } from './read-text.ts';
import { ADMIN_OPTIONS, listAll, useAdmin } from './use-admin.ts';
import { warnOfUnnamedMethods } from './warn-of-unnamed-methods.ts';

export const applyCommand: Command = {
  name: 'apply',
  summary:
    'Apply policies, instances and subscriptions from a YAML file; see docs/configuration-as-code.md. Anything that it does not name stays.',
  options: {
    file: { short: 'f', value: 'file', description: 'The YAML file; - for standard input.' },
    'dry-run': { description: 'Show the plan and change nothing.' },
    'require-end': {
      description: 'Refuse a file that does not end with the line "..." that config export writes.',
    },
    'create-keys': { description: 'Create missing keys that the file names, and print each once.' },
    'update-secrets': {
      description: 'Also write the api_key of existing instances. Stored keys cannot be compared with it.',
    },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const file = input.option('file');
    if (file === undefined)
      throw new CommandError('Give the file with -f <file>. See erp-proxy apply --help.');
    const text = readText(file, await input.readInput(file));
    const read = readConfiguration(text, { requiresEnd: input.isSet('require-end') });
    const { configuration } = requireValid(file, read);
    return useAdmin(
      input,
      async (admin) => {
        const present = await findPresent(admin, configuration);
        const options = {
          createsKeys: input.isSet('create-keys'),
          updatesSecrets: input.isSet('update-secrets'),
        };
        const { steps } = requireValid(file, makePlan(configuration, present, options));
        const folder = file === '-' ? '.' : dirname(file);
        const { secrets } = requireValid(
          file,
          await readSecrets(steps, {
            env: input.env,
            readFile: (path) => input.readInput(isAbsolute(path) ? path : join(folder, path)),
          }),
        );
        if (!input.isSet('json')) input.print(printPlan(steps));
        for (const { target, replacesUnreadable } of steps) {
          if (replacesUnreadable === undefined) continue;
          input.complain(
            `${target}: its stored policy is ${replacesUnreadable}; the policy of the file and nothing of the stored one will replace it.\n`,
          );
        }
        const changed = steps.filter(({ kind }) => kind !== 'keep').length;
        if (changed > 0 && !input.isSet('dry-run')) await admin.beginApply({ changes: changed });
        const progress = input.isSet('dry-run')
          ? describeDryRun(steps)
          : await carryOut(admin, steps, secrets, (created) => {
              if (!input.isSet('json')) input.print(`\n${describeCreated(created)}\n`);
            });
        printProgress(input, steps, progress);
        if (progress.failure === null) {
          const keys = [...present.keys.values()].flat();
          if (keys.length > 0) await warnOfUnnamedMethods(input, admin, new Set(keys.map(({ id }) => id)));
          return 0;
        }
        input.complain(describeFailure(steps, progress));
        const { error } = progress.failure;
        // Status 1 instead of 2: the file is valid, and carrying out its changes failed.
        throw error instanceof AdminError ? new CommandError(explainProblem(error.problem), 1) : error;
      },
      input.isSet('dry-run') ? 'plan' : 'create',
    );
  },
};

function describeCreated(created: Created): string {
  if ('key' in created) return `key ${created.key.name}, shown this once: ${created.key.key}`;
  const { name, secret } = created.subscription;
  return `secret of subscription ${name}, shown this once: ${secret}`;
}

function requireValid<Outcome extends object>(
  file: string,
  outcome: Outcome | { errors: LineError[] },
): Exclude<Outcome, { errors: LineError[] }> {
  if ('errors' in outcome)
    throw new CommandError(`${printLineErrors(file, outcome.errors)}\nNothing was changed.`);
  return outcome as Exclude<Outcome, { errors: LineError[] }>;
}

/** The keys, instances and subscriptions of the store that the file names. */
async function findPresent(
  admin: Admin,
  { keys, instances, subscriptions }: Configuration,
): Promise<Present> {
  const present = {
    keys: new Map<string, KeyView[]>(),
    instances: new Map<string, InstanceView>(),
    subscriptions: new Map<string, SubscriptionView>(),
  };
  for (const { name } of keys) {
    present.keys.set(
      name,
      await Array.fromAsync(listAll(admin.listKeys, { name, state: 'active' as const })),
    );
  }
  if (instances.length > 0)
    for await (const view of listAll(admin.listInstances, {})) present.instances.set(view.name, view);
  if (subscriptions.length > 0)
    for await (const view of listAll(admin.listSubscriptions, {})) present.subscriptions.set(view.name, view);
  return present;
}

function printProgress(
  input: CommandInput,
  steps: readonly Step[],
  { states, createdKeys, createdSubscriptions, failure }: Progress,
): void {
  const isDryRun = input.isSet('dry-run');
  if (input.isSet('json')) {
    printJson(input, {
      dry_run: isDryRun,
      steps: steps.map((step) => ({
        kind: step.kind,
        target: step.target,
        state: states.get(step),
        changes: step.changes,
      })),
      created_keys: createdKeys.map(({ id, name, key }) => ({ id, name, key })),
      created_subscriptions: createdSubscriptions.map(({ name, secret }) => ({ name, secret })),
    });
  } else if (failure === null) {
    input.print(`\n${summarize(steps, isDryRun)}\n`);
  }
}

function summarize(steps: readonly Step[], isDryRun: boolean): string {
  const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
  if (count('keep') === steps.length) return 'Nothing to change.';
  if (!isDryRun) return `${count('add')} added, ${count('change')} changed, ${count('keep')} as they were.`;
  const counts = `${count('add')} to add, ${count('change')} to change, ${count('keep')} as they are`;
  return `${counts}. Nothing was changed: this was a dry run.`;
}

function describeFailure(steps: readonly Step[], { states }: Progress): string {
  const list = (state: string) =>
    steps
      .filter((step) => states.get(step) === state)
      .map(({ target }) => target)
      .join(', ') || 'nothing';
  return `Failed: ${list('failed')}. Done: ${list('done')}. Not done: ${list('skipped')}.\n`;
}

const SIGNS = { add: '+', change: '~', keep: '=' };
/** Certificates are too long to print. */
const SHOWN_LENGTH_MAX = 200;

/** Prints a plan: one line for each key and instance (`+` add, `~` change, `=` keep), followed by its changes. */
function printPlan(steps: readonly Step[]): string {
  return steps.map(printStep).join('');
}

function printStep({ kind, target, changes }: Step): string {
  const lines = Object.entries(changes).map(([path, { from, to }]) =>
    kind === 'add' ? `    ${path}: ${show(to)}\n` : `    ${path}: ${show(from)} → ${show(to)}\n`,
  );
  return `${SIGNS[kind]} ${target}\n${lines.join('')}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return clipText(text, SHOWN_LENGTH_MAX);
}
