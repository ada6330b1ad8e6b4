/** `subscriptions …`: sends the changes of models to webhooks. */
import {
  type DeliveryQuery,
  type DeliveryStateName,
  type DeliveryView,
  SUBSCRIPTION_OPTIONS,
  type SubscriptionInput,
  type SubscriptionState,
  type SubscriptionView,
} from '@erp-proxy/contract';
import { SUBSCRIPTION_MEMBERS } from '@erp-proxy/contract/admin';
import { type Command, CommandError, printResult, showMembers } from './command.ts';
import { listMemberOptions, readMembers } from './member-options.ts';
import { type Column, printList } from './print-list.ts';
import { readDurationMs, readMoment } from './read-time.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, pickGiven, useAdmin } from './use-admin.ts';

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

export const subscriptionsCommands: readonly Command[] = [
  {
    name: 'subscriptions add',
    arguments: ['<name>'],
    summary: 'Send the changes of a model, or events, to a webhook. Prints the secret once.',
    options: { ...listMemberOptions(SUBSCRIPTION_MEMBERS, SUBSCRIPTION_OPTIONS), ...ADMIN_OPTIONS },
    async run(input) {
      const [name = ''] = input.arguments;
      const { url, ...members } = await readMembers(input, SUBSCRIPTION_MEMBERS, SUBSCRIPTION_OPTIONS);
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
          return printResult(
            input,
            made,
            `Subscription ${name} is stored. Its secret, shown this once: ${made.secret}\n`,
          );
        },
        'create',
      );
    },
  },
  {
    name: 'subscriptions list',
    summary: 'List the subscriptions, without their secrets.',
    options: {
      state: { choices: STATES, description: 'Only those in this state.' },
      search: {
        value: 'text',
        description: 'Only those whose name, instance, model or address contains this text.',
      },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const state = input.option('state') as SubscriptionState | undefined;
      return useAdmin(input, async (admin) => {
        const query = pickGiven({ state, search: input.option('search') });
        const isAll = Object.keys(query).length === 0;
        const emptyText = isAll
          ? 'There are no subscriptions; add one with erp-proxy subscriptions add.'
          : 'No subscription matches.';
        return printList(input, listAll(admin.listSubscriptions, query), COLUMNS, emptyText);
      });
    },
  },
  adminCommand({
    name: 'subscriptions show',
    arguments: ['<name>'],
    summary: 'Show a subscription, without its secrets.',
    ask: (admin, name) => admin.getSubscription(name),
    show: describeMembers,
  }),
  {
    name: 'subscriptions update',
    arguments: ['<name>'],
    summary: 'Change a subscription. Omitted members stay. Other records or fields begin anew.',
    options: {
      ...listMemberOptions(SUBSCRIPTION_MEMBERS, SUBSCRIPTION_OPTIONS, { isChange: true }),
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const [name = ''] = input.arguments;
      const changes = await readMembers(input, SUBSCRIPTION_MEMBERS, SUBSCRIPTION_OPTIONS);
      if (Object.keys(changes).length === 0) {
        throw new CommandError('Say what to change. See erp-proxy subscriptions update --help.');
      }
      return useAdmin(input, async (admin) => {
        return printResult(
          input,
          await admin.updateSubscription(name, changes),
          `Subscription ${name} is changed.\n`,
        );
      });
    },
  },
  adminCommand({
    name: 'subscriptions pause',
    arguments: ['<name>'],
    summary: 'Pause a subscription. Nothing is missed: it continues where it stopped.',
    options: { reason: { value: 'text', description: 'Why; the list shows it.' } },
    ask: (admin, name, input) => admin.pauseSubscription(name, pickGiven({ reason: input.option('reason') })),
    show: (_answer, name) => `Subscription ${name} is paused.\n`,
  }),
  adminCommand({
    name: 'subscriptions resume',
    arguments: ['<name>'],
    summary: 'Continue a subscription that was paused or disabled. What waits is sent at once.',
    ask: (admin, name) => admin.resumeSubscription(name),
    show: (_answer, name) => `Subscription ${name} is active.\n`,
  }),
  adminCommand({
    name: 'subscriptions retry',
    arguments: ['<name>'],
    summary: 'Send at once what waits for a retry, for example when the receiver is back.',
    ask: (admin, name) => admin.retrySubscription(name),
    show: (_answer, name) => `What waits of ${name} is sent now.\n`,
  }),
  {
    name: 'subscriptions ping',
    arguments: ['<name>'],
    summary:
      'Send a delivery of type ping now. Exits with 1 if the receiver does not take it. If it does, what waits is sent at once.',
    options: ADMIN_OPTIONS,
    run: (input) =>
      useAdmin(input, async (admin) => {
        const ping = await admin.pingSubscription(input.arguments[0] ?? '');
        const taken = `Taken with ${ping.status} in ${ping.duration_ms} ms.`;
        printResult(input, ping, `${ping.delivered ? taken : `Not taken: ${ping.failure}`}\n`);
        return ping.delivered ? 0 : 1;
      }),
  },
  {
    name: 'subscriptions replay',
    arguments: ['<name>'],
    summary: 'Send a delivery again, or the newest of each record since a time.',
    options: {
      delivery: { value: 'id', description: 'The webhook-id of one delivery.' },
      since: { value: 'time', description: 'As in 12h, 7d or 2026-03-01T08:00:00Z.' },
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
        return printResult(input, view, `Deliveries that are sent again: ${view.replayed}\n`);
      });
    },
  },
  {
    name: 'subscriptions deliveries',
    arguments: ['<name>'],
    summary: 'List the deliveries of a subscription, newest first, without their content.',
    options: {
      state: { choices: DELIVERY_STATES, description: 'Only those in this state.' },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const state = input.option('state') as DeliveryStateName | undefined;
      return useAdmin(input, async (admin) => {
        const [name = ''] = input.arguments;
        const deliveries = listAll(
          (query: DeliveryQuery) => admin.listDeliveries(name, query),
          pickGiven({ state }),
        );
        return printList(input, deliveries, DELIVERY_COLUMNS, 'No delivery matches.');
      });
    },
  },
  {
    name: 'subscriptions rotate-secret',
    arguments: ['<name>'],
    summary: 'Create a new secret, and print it once. The old one signs for the overlap, too.',
    options: {
      overlap: { value: 'duration', description: 'As in 30m, 12h or 7d. Default: 24h.' },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const seconds = Math.round(readDurationMs('overlap', input.option('overlap') ?? '24h') / 1000);
      return useAdmin(input, async (admin) => {
        const [name = ''] = input.arguments;
        const made = await admin.rotateSecret(name, { overlap_seconds: seconds });
        return printResult(
          input,
          made,
          `Subscription ${name} has a new secret, shown this once: ${made.secret}\n`,
        );
      });
    },
  },
  adminCommand({
    name: 'subscriptions remove',
    arguments: ['<name>'],
    summary: 'Remove a subscription. Nothing more of it is sent.',
    ask: (admin, name) => admin.removeSubscription(name).then(() => ({ name, removed: true })),
    show: ({ name }) => `Subscription ${name} is removed.\n`,
  }),
];

function describeMembers({ receiver, secrets, ...members }: SubscriptionView): string {
  const nested = Object.entries(receiver).map(([name, value]) => [`receiver.${name}`, value]);
  const shown = [...Object.entries(members), ...nested, ['secrets', secrets.length]].map(([name, value]) => [
    name,
    typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
  ]);
  return showMembers(Object.fromEntries(shown), 22);
}

function findFailure({ failures, last_failure }: SubscriptionView['receiver']): string | null {
  return failures === 0 ? null : last_failure;
}
