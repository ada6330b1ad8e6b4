/** Runs the steps of a plan of `apply` in order, and returns the progress. Prints nothing. */
import type { NewKeyView } from '@erp-proxy/contract';
import type { Admin } from '../admin/admin.ts';
import type { Step } from './apply/plan.ts';
import type { Secrets } from './apply/secrets.ts';

type StepState = 'unchanged' | 'planned' | 'done' | 'failed' | 'skipped';

export interface Progress {
  /** The state of every step. */
  states: ReadonlyMap<Step, StepState>;
  createdKeys: readonly NewKeyView[];
  /** The error of the failed step; the steps after it are skipped. */
  failure: { error: unknown } | null;
}

/** The progress of a dry run. */
export function describeDryRun(steps: readonly Step[]): Progress {
  const states = new Map(
    steps.map((step): [Step, StepState] => [step, step.kind === 'keep' ? 'unchanged' : 'planned']),
  );
  return { states, createdKeys: [], failure: null };
}

/** Calls `onCreated` as soon as a key is created. The key is shown only this once, even if a later step fails. */
export async function carryOut(
  admin: Admin,
  steps: readonly Step[],
  secrets: Secrets,
  onCreated: (key: NewKeyView) => void,
): Promise<Progress> {
  const states = new Map<Step, StepState>();
  const createdKeys: NewKeyView[] = [];
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
          createdKeys.push(created);
          onCreated(created);
        }
      } catch (error) {
        failure = { error };
        states.set(step, 'failed');
      }
    }
  }
  return { states, createdKeys, failure };
}

/** Returns the created key, if any. Changes only the version for which the plan was made. */
async function carryOutStep(admin: Admin, step: Step, secrets: Secrets): Promise<NewKeyView | null> {
  const { action } = step;
  const secret = secrets.get(step);
  const apiKey = secret === undefined ? {} : { api_key: secret };
  switch (action.do) {
    case 'create key':
      return admin.createKey({ name: action.name, policy: action.policy });
    case 'update key':
      await admin.updateKey(action.id, { policy: action.policy }, action.version);
      return null;
    case 'create instance':
      await admin.createInstance({ ...action.members, name: action.name, api_key: secret ?? '' });
      return null;
    case 'update instance':
      await admin.updateInstance(action.name, { ...action.members, ...apiKey }, action.version);
      return null;
    case 'nothing':
      return null;
  }
}
