/** `subscriptions …`: sends the changes of models to webhooks. */
import type {
  DeliveryQuery,
  DeliveryStateName,
  DeliveryView,
  SubscriptionChanges,
  SubscriptionInput,
  SubscriptionState,
  SubscriptionView,
} from '@erp-proxy/contract';
import { type Command, CommandError, type CommandInput, type CommandOption, printJson } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { readDurationMs, readMoment } from './read-time.ts';
import { ADMIN_OPTIONS, listAll, pickGiven, useAdmin } from './use-admin.ts';

const STATES: readonly SubscriptionState[] = ['active', 'paused', 'disabled'];
const DELIVERY_STATES: readonly DeliveryStateName[] = ['waiting', 'delivered', 'failed', 'merged'];

const COLUMNS: readonly Column<SubscriptionView>[] = [
  { heading: 'NAME', show: ({ name }) => name },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'INSTANCE', show: ({ instance }) => instance ?? null },
  { heading: 'MODEL', show: ({ model, events }) => model ?? events.join() },
  { heading: 'RECEIVER', show: ({ url }) => URL.parse(url)?.origin ?? null },
  { heading: 'DELIVERED', show: ({ receiver }) => receiver.delivered_at },
  { heading: 'PROBLEM', show: ({ reason, problem, receiver }) => reason ?? problem ?? findFailure(receiver) },
];

const DELIVERY_COLUMNS: readonly Column<DeliveryView>[] = [
  { heading: 'ID', show: ({ id }) => id },
  { heading: 'CREATED', show: ({ created_at }) => created_at },
  { heading: 'TYPE', show: ({ type }) => type },
  { heading: 'RECORD', show: ({ record }) => record },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'ATTEMPTS', show: ({ attempts }) => attempts },
  { heading: 'STATUS', show: ({ status }) => status },
  { heading: 'NEXT', show: ({ next_at }) => next_at },
  { heading: 'FAILURE', show: ({ failure }) => failure },
];

const MEMBER_OPTIONS = {
  events: {
    type: 'string',
    value: 'names',
    description: 'In place of a model: events of the proxy. key.ends: a client key ends soon, or has ended.',
  },
  instance: { type: 'string', value: 'name', description: 'Name of the stored instance.' },
  model: { type: 'string', value: 'model', description: 'Model whose changes are sent, e.g. res.partner.' },
  domain: {
    type: 'string',
    value: 'json',
    description: 'Only records that match, as Odoo takes it: \'[["is_company","=",true]]\'. Default: all.',
  },
  fields: { type: 'string', value: 'names', description: 'Fields whose values are sent: name,email.' },
  receiver: { type: 'string', value: 'address', description: 'Address that receives the changes.' },
  interval: { type: 'string', value: 'seconds', description: 'Seconds between two readings. Default: 60.' },
  payload: { type: 'string', value: 'full|thin', description: 'thin: without values. Default: full.' },
  gone: { type: 'boolean', description: 'Send records that vanish, too.' },
  start: { type: 'string', value: 'now|all', description: 'all: begin with all records. Default: now.' },
  key: {
    type: 'string',
    value: 'id',
    description:
      'Client key whose policy and limits hold for the calls on Odoo; "none": no policy restricts them.',
  },
} satisfies Record<string, CommandOption>;

export const subscriptionsAddCommand: Command = {
  name: 'subscriptions add',
  arguments: ['<name>'],
  summary: 'Send the changes of a model, or events, to a webhook. Prints the secret once.',
  options: { ...MEMBER_OPTIONS, ...ADMIN_OPTIONS },
  async run(input) {
    const [name = ''] = input.arguments;
    const { url, ...members } = readMembers(input);
    const { instance, model, fields, events } = members;
    const isOfRecords = instance !== undefined && model !== undefined && fields !== undefined;
    if (url === undefined || (events === undefined && !isOfRecords)) {
      throw new CommandError(
        'Give --instance, --model, --fields and --receiver, or --events and --receiver.',
      );
    }
    const subscription: SubscriptionInput = { name, url, ...members };
    return useAdmin(
      input,
      async (admin) => {
        const made = await admin.createSubscription(subscription);
        if (input.isSet('json')) printJson(input, made);
        else input.print(`Subscription ${name} is stored. Its secret, shown this once: ${made.secret}\n`);
        return 0;
      },
      'create',
    );
  },
};

export const subscriptionsListCommand: Command = {
  name: 'subscriptions list',
  arguments: [],
  summary: 'List the subscriptions, without their secrets.',
  options: {
    state: { type: 'string', value: STATES.join('|'), description: 'Only those in this state.' },
    search: {
      type: 'string',
      value: 'text',
      description: 'Only those whose name, instance, model or address contains this text.',
    },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const state = readChoice(input, 'state', STATES);
    return useAdmin(input, async (admin) => {
      const query = pickGiven({ state, search: input.option('search') });
      const isAll = Object.keys(query).length === 0;
      const emptyText = isAll
        ? 'There are no subscriptions; add one with erp-proxy subscriptions add.'
        : 'No subscription matches.';
      await printList(input, listAll(admin.listSubscriptions, query), COLUMNS, emptyText);
      return 0;
    });
  },
};

export const subscriptionsShowCommand: Command = {
  name: 'subscriptions show',
  arguments: ['<name>'],
  summary: 'Show a subscription, without its secrets.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const view = await admin.getSubscription(input.arguments[0] ?? '');
      if (input.isSet('json')) printJson(input, view);
      else printMembers(input, view);
      return 0;
    }),
};

export const subscriptionsUpdateCommand: Command = {
  name: 'subscriptions update',
  arguments: ['<name>'],
  summary: 'Change a subscription. Omitted members stay. Other records or fields begin anew.',
  options: {
    ...MEMBER_OPTIONS,
    'no-gone': { type: 'boolean', description: 'Do not send records that vanish.' },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const [name = ''] = input.arguments;
    const changes = readMembers(input);
    if (Object.keys(changes).length === 0) {
      throw new CommandError('Say what to change. See erp-proxy subscriptions update --help.');
    }
    return useAdmin(input, async (admin) => {
      printDone(input, await admin.updateSubscription(name, changes), `Subscription ${name} is changed.`);
      return 0;
    });
  },
};

export const subscriptionsPauseCommand: Command = {
  name: 'subscriptions pause',
  arguments: ['<name>'],
  summary: 'Pause a subscription. Nothing is missed: it continues where it stopped.',
  options: {
    reason: { type: 'string', value: 'text', description: 'Why; the list shows it.' },
    ...ADMIN_OPTIONS,
  },
  run: (input) =>
    useAdmin(input, async (admin) => {
      const [name = ''] = input.arguments;
      const view = await admin.pauseSubscription(name, pickGiven({ reason: input.option('reason') }));
      printDone(input, view, `Subscription ${name} is paused.`);
      return 0;
    }),
};

export const subscriptionsResumeCommand: Command = {
  name: 'subscriptions resume',
  arguments: ['<name>'],
  summary: 'Continue a subscription that was paused or disabled. What waits is sent at once.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const [name = ''] = input.arguments;
      printDone(input, await admin.resumeSubscription(name), `Subscription ${name} is active.`);
      return 0;
    }),
};

export const subscriptionsRetryCommand: Command = {
  name: 'subscriptions retry',
  arguments: ['<name>'],
  summary: 'Send at once what waits for a retry, for example when the receiver is back.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const [name = ''] = input.arguments;
      printDone(input, await admin.retrySubscription(name), `What waits of ${name} is sent now.`);
      return 0;
    }),
};

export const subscriptionsPingCommand: Command = {
  name: 'subscriptions ping',
  arguments: ['<name>'],
  summary:
    'Send a delivery of type ping now. Exits with 1 if the receiver does not take it. If it does, what waits is sent at once.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const ping = await admin.pingSubscription(input.arguments[0] ?? '');
      if (input.isSet('json')) printJson(input, ping);
      else if (ping.delivered) input.print(`Taken with ${ping.status} in ${ping.duration_ms} ms.\n`);
      else input.print(`Not taken: ${ping.failure}\n`);
      return ping.delivered ? 0 : 1;
    }),
};

export const subscriptionsReplayCommand: Command = {
  name: 'subscriptions replay',
  arguments: ['<name>'],
  summary: 'Send a delivery again, or the newest of each record since a time.',
  options: {
    delivery: { type: 'string', value: 'id', description: 'The webhook-id of one delivery.' },
    since: { type: 'string', value: 'time', description: 'As in 12h, 7d or 2026-03-01T08:00:00Z.' },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const since = input.option('since');
    const replay = pickGiven({
      delivery: input.option('delivery'),
      since: since === undefined ? undefined : readMoment('since', since),
    });
    if (Object.keys(replay).length !== 1) throw new CommandError('Give --delivery or --since.');
    return useAdmin(input, async (admin) => {
      const view = await admin.replayDeliveries(input.arguments[0] ?? '', replay);
      if (input.isSet('json')) printJson(input, view);
      else input.print(`Deliveries that are sent again: ${view.replayed}\n`);
      return 0;
    });
  },
};

export const subscriptionsDeliveriesCommand: Command = {
  name: 'subscriptions deliveries',
  arguments: ['<name>'],
  summary: 'List the deliveries of a subscription, newest first, without their content.',
  options: {
    state: { type: 'string', value: DELIVERY_STATES.join('|'), description: 'Only those in this state.' },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const state = readChoice(input, 'state', DELIVERY_STATES);
    return useAdmin(input, async (admin) => {
      const [name = ''] = input.arguments;
      const deliveries = listAll(
        (query: DeliveryQuery) => admin.listDeliveries(name, query),
        pickGiven({ state }),
      );
      await printList(input, deliveries, DELIVERY_COLUMNS, 'No delivery matches.');
      return 0;
    });
  },
};

export const subscriptionsRotateSecretCommand: Command = {
  name: 'subscriptions rotate-secret',
  arguments: ['<name>'],
  summary: 'Create a new secret, and print it once. The old one signs for the overlap, too.',
  options: {
    overlap: { type: 'string', value: 'duration', description: 'As in 30m, 12h or 7d. Default: 24h.' },
    ...ADMIN_OPTIONS,
  },
  async run(input) {
    const seconds = Math.round(readDurationMs('overlap', input.option('overlap') ?? '24h') / 1000);
    return useAdmin(input, async (admin) => {
      const [name = ''] = input.arguments;
      const made = await admin.rotateSecret(name, { overlap_seconds: seconds });
      if (input.isSet('json')) printJson(input, made);
      else input.print(`Subscription ${name} has a new secret, shown this once: ${made.secret}\n`);
      return 0;
    });
  },
};

export const subscriptionsRemoveCommand: Command = {
  name: 'subscriptions remove',
  arguments: ['<name>'],
  summary: 'Remove a subscription. Nothing more of it is sent.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const [name = ''] = input.arguments;
      await admin.removeSubscription(name);
      if (input.isSet('json')) printJson(input, { name, removed: true });
      else input.print(`Subscription ${name} is removed.\n`);
      return 0;
    }),
};

/** The given members. The admin service refuses invalid values, all at once. */
function readMembers({ option, isSet }: CommandInput): SubscriptionChanges {
  const interval = option('interval');
  const domain = option('domain');
  const key = option('key');
  if (isSet('gone') && isSet('no-gone')) throw new CommandError('--gone and --no-gone exclude each other.');
  const members = pickGiven({
    events: readNames(option('events')),
    instance: option('instance'),
    model: option('model'),
    domain: domain === undefined ? undefined : readDomain(domain),
    fields: readNames(option('fields')),
    url: option('receiver'),
    interval_seconds: interval === undefined ? undefined : readInterval(interval),
    payload: option('payload'),
    gone: isSet('gone') ? true : isSet('no-gone') ? false : undefined,
    start: option('start'),
    key: key === 'none' ? null : key,
  });
  return members as SubscriptionChanges;
}

function readNames(text: string | undefined): string[] | undefined {
  return text?.split(',').map((name) => name.trim());
}

function readDomain(text: string): unknown[] {
  try {
    const domain: unknown = JSON.parse(text);
    if (Array.isArray(domain)) return domain;
  } catch {}
  throw new CommandError('--domain is not a JSON list, such as \'[["is_company","=",true]]\'.');
}

function readInterval(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new CommandError(`--interval "${text}" is not a whole number of seconds.`);
}

function readChoice<Choice extends string>(
  { option }: CommandInput,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const given = option(name);
  const choice = choices.find((known) => known === given);
  if (given !== undefined && choice === undefined)
    throw new CommandError(`--${name} is one of ${choices.join(', ')}.`);
  return choice;
}

function printMembers({ print }: CommandInput, view: SubscriptionView): void {
  const { receiver, secrets, ...members } = view;
  const nested = Object.entries(receiver).map(([name, value]) => [`receiver.${name}`, value]);
  const shown = [...Object.entries(members), ...nested, ['secrets', secrets.length]];
  for (const [name, value] of shown) {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '-');
    print(`${String(name).padEnd(22)}  ${text}\n`);
  }
}

function findFailure({ failures, last_failure }: SubscriptionView['receiver']): string | null {
  return failures === 0 ? null : last_failure;
}

function printDone(input: CommandInput, view: SubscriptionView, text: string): void {
  if (input.isSet('json')) printJson(input, view);
  else input.print(`${text}\n`);
}
