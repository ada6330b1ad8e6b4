/** The policy of `keys create --publishable`, from its options or from a file. */

import type { Admin } from '@erp-proxy/admin';
import type { Policy } from '@erp-proxy/contract';
import { parsePolicy, proposeFields } from '@erp-proxy/policy/parse';
import { CommandError, type CommandInput, type CommandOption } from './command.ts';

export const PUBLISHABLE_OPTIONS = {
  publishable: {
    description:
      'A key for the source of a web page: it can only read, and only pages of the given origins can use it.',
  },
  origin: {
    value: 'origin',
    multiple: true,
    description: 'With --publishable: origin of the page, e.g. https://shop.example.com; may be repeated.',
  },
  models: {
    value: 'names',
    description: 'With --publishable: the models that it may read, e.g. "product.template,res.country".',
  },
  fields: {
    value: 'model=names',
    multiple: true,
    description: 'With --publishable: fields of a model, e.g. product.template=name,list_price; repeatable.',
  },
  instance: { value: 'name', description: 'With --publishable: the stored instance. Default: the only one.' },
} satisfies Record<string, CommandOption>;

/** Null without --publishable. `given` is the policy of --policy. */
export async function readPublishablePolicy(
  input: CommandInput,
  given: Policy | undefined,
  admin: Pick<Admin, 'listInstances'>,
): Promise<Policy | null> {
  const origins = input.list('origin');
  const [models, instance] = [input.option('models'), input.option('instance')];
  if (!input.isSet('publishable')) {
    const isGiven = [...origins, ...input.list('fields')].length > 0 || (models ?? instance) !== undefined;
    if (!isGiven) return null;
    throw new CommandError(
      '--origin, --models, --fields and --instance are for --publishable keys; see --policy.',
    );
  }
  if (given !== undefined) return addToPolicy(given, input);
  if (origins.length === 0) {
    throw new CommandError('Give the origin of the web page: --origin https://shop.example.com.');
  }
  if (models === undefined) {
    throw new CommandError(
      'Name the models that any visitor of the page may read: --models "product.template,res.country". Or give --policy.',
    );
  }
  const names = splitNames(models);
  const fields = readFields(input, names);
  return check({
    instances: [instance ?? (await findOnlyInstance(admin))],
    models: Object.fromEntries(names.map((model) => [model, ['*']])),
    fields,
    read_only: true,
    cors_origins: [...origins],
    publishable: true,
  });
}

function splitNames(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

function readFields({ list }: CommandInput, models: readonly string[]): NonNullable<Policy['fields']> {
  const given = list('fields').map((text) => {
    const [model = '', names] = text.split('=');
    if (names === undefined || !models.includes(model.trim())) {
      throw new CommandError(
        `--fields ${text}: give a model of --models and its fields, e.g. --fields product.template=name,list_price.`,
      );
    }
    return [model.trim(), { allow: splitNames(names) }] as const;
  });
  const missing = models.filter((model) => !model.includes('*') && given.every(([named]) => named !== model));
  if (missing.length > 0) {
    const proposed = missing.map((model) => `--fields '${model}=${proposeFields(model).join(',')}'`);
    throw new CommandError(
      `Any visitor of the page can read what the key may read. Name the fields of each model. Add this to the command, and change it as needed:\n  ${proposed.join(' ')}`,
    );
  }
  return Object.fromEntries(given);
}

/**
 * Does not set `read_only` in a given policy: one that allows writes is more likely a mistake than meant for a page.
 */
function addToPolicy(given: Policy, { list, option }: CommandInput): Policy {
  if ((option('models') ?? option('instance')) !== undefined || list('fields').length > 0) {
    throw new CommandError(
      'The policy of --policy names models, fields and instances: leave out --models, --fields and --instance.',
    );
  }
  const origins = list('origin');
  if (origins.length > 0 && given.cors_origins !== undefined) {
    throw new CommandError('The policy of --policy has `cors_origins`: leave out --origin.');
  }
  return check({
    ...given,
    ...(origins.length > 0 ? { cors_origins: [...origins] } : {}),
    publishable: true,
  });
}

function check(policy: Policy): Policy {
  const parsed = parsePolicy(policy);
  if ('policy' in parsed) return parsed.policy;
  const errors = parsed.errors.map(({ path, message }) => `${path}: ${message}`);
  throw new CommandError(`No publishable key can have this policy:\n${errors.join('\n')}`);
}

async function findOnlyInstance(admin: Pick<Admin, 'listInstances'>): Promise<string> {
  const { items } = await admin.listInstances({ limit: 2 });
  const [only] = items;
  if (only !== undefined && items.length === 1) return only.name;
  throw new CommandError(
    only === undefined
      ? 'A publishable key calls a stored instance, and there is none: see erp-proxy instances add --help.'
      : 'Several instances are stored: give one with --instance <name>.',
  );
}
