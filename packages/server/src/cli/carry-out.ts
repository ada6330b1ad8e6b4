/** Carries out a plan of `apply`, one step after the other, and says how far it came. Prints nothing. */
import type { NewKeyView } from '@erp-proxy/contract';
import type { Admin } from '../admin/admin.ts';
import type { Step } from './apply/plan.ts';
import type { Secrets } from './apply/secrets.ts';

type StepState = 'unchanged' | 'planned' | 'done' | 'failed' | 'skipped';

export interface Progress {
  /** Of every step. */
  states: ReadonlyMap<Step, StepState>;
  createdKeys: readonly NewKeyView[];
  /** What the failed step failed with; those behind it are skipped. */
  failure: { error: unknown } | null;
}

/** What is left of a plan that is only looked at. */
export function leaveUndone(steps: readonly Step[]): Progress {
  const states = new Map(
    steps.map((step): [Step, StepState] => [step, step.kind === 'keep' ? 'unchanged' : 'planned']),
  );
  return { states, createdKeys: [], failure: null };
}

/** `onCreated` is told of a key at once: it is shown this once, whatever becomes of the steps behind it. */
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

/** Gives the key that was made, where one was. Only the version that the plan was made for is changed. */
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
