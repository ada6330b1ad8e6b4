/** Runs the steps of a plan of `apply` in order, and returns the progress. Prints nothing. */

import type { Admin } from '@erp-proxy/admin';
import { type NewKeyView, type NewSubscriptionView, tagVersion } from '@erp-proxy/contract';
import type { Step } from './apply/plan.ts';
import type { Secrets } from './apply/secrets.ts';
import { CommandError } from './command.ts';
import { listAll } from './use-admin.ts';

type StepState = 'unchanged' | 'planned' | 'done' | 'failed' | 'skipped';

export interface Progress {
  /** The state of every step. */
  states: ReadonlyMap<Step, StepState>;
  createdKeys: readonly NewKeyView[];
  createdSubscriptions: readonly NewSubscriptionView[];
  /** The error of the failed step; the steps after it are skipped. */
  failure: { error: unknown } | null;
}

/** The progress of a dry run. */
export function describeDryRun(steps: readonly Step[]): Progress {
  const states = new Map(
    steps.map((step): [Step, StepState] => [step, step.kind === 'keep' ? 'unchanged' : 'planned']),
  );
  return { states, createdKeys: [], createdSubscriptions: [], failure: null };
}

/** A created object with its secret, which is shown only once, also if a later step fails. */
export type Created = { key: NewKeyView } | { subscription: NewSubscriptionView };

/** Calls `onCreated` as soon as a key or a subscription is created. */
export async function carryOut(
  admin: Admin,
  steps: readonly Step[],
  secrets: Secrets,
  onCreated: (created: Created) => void,
): Promise<Progress> {
  const states = new Map<Step, StepState>();
  const createdKeys: NewKeyView[] = [];
  const createdSubscriptions: NewSubscriptionView[] = [];
  let failure: Progress['failure'] = null;
  for (const step of steps) {
    if (step.kind === 'keep') {
      states.set(step, 'unchanged');
    } else if (failure !== null) {
      states.set(step, 'skipped');
    } else {
      try {
        const created = await carryOutStep(admin, step, secrets);
        states.set(step, 'done');
        if (created !== null) {
          if ('key' in created) createdKeys.push(created.key);
          else createdSubscriptions.push(created.subscription);
          onCreated(created);
        }
      } catch (error) {
        failure = { error };
        states.set(step, 'failed');
      }
    }
  }
  return { states, createdKeys, createdSubscriptions, failure };
}

/** Returns the created object if it has a secret. Changes only the version for which the plan was made. */
async function carryOutStep(admin: Admin, step: Step, secrets: Secrets): Promise<Created | null> {
  const { action } = step;
  const secret = secrets.get(step);
  const apiKey = secret === undefined ? {} : { api_key: secret };
  switch (action.do) {
    case 'create key':
      await refuseSecondKey(admin, action.name);
      return { key: await admin.createKey({ ...action.members, name: action.name }) };
    case 'update key':
      await admin.updateKey(action.id, action.members, tagVersion(action));
      return null;
    case 'create instance':
      await admin.createInstance({ ...action.members, name: action.name, ...apiKey });
      return null;
    case 'update instance':
      await admin.updateInstance(action.name, { ...action.members, ...apiKey }, tagVersion(action));
      return null;
    case 'create subscription':
      return { subscription: await admin.createSubscription(action.input) };
    case 'update subscription':
      await admin.updateSubscription(action.name, action.members, tagVersion(action));
      return null;
    case 'nothing':
      return null;
  }
}

/** Key names are not unique, so the store accepts a second key of a name that another `apply` has just created. */
async function refuseSecondKey(admin: Admin, name: string): Promise<void> {
  const [other] = await Array.fromAsync(listAll(admin.listKeys, { name, state: 'active' as const }));
  if (other === undefined) return;
  throw new CommandError(
    `A key "${name}" was created after the plan was made: apply again, which changes that one.`,
    1,
  );
}
