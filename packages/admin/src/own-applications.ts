/** The operations of a person on the applications that they have allowed to act as them. No input names a person. */
import type { OwnApplications } from '@erp-proxy/contract';
import type { Consents } from '@erp-proxy/control/consents';
import { createAdminError } from './admin-error.ts';
import { describeWithdrawal } from './application-admin.ts';
import { type AuditedActor, createActionDescriber } from './audited-actions.ts';
import { toAdminError } from './to-admin-error.ts';
import { showApplication } from './views.ts';

/** Methods reject with an AdminError. */
export interface OwnApplicationOperations {
  list(): Promise<OwnApplications>;
  withdraw(id: string): Promise<void>;
}

export interface OwnApplicationDeps {
  consents: Pick<Consents, 'get' | 'listOf' | 'remove'>;
  audit: Parameters<typeof createActionDescriber>[0];
}

export function createOwnApplications(
  { consents, audit }: OwnApplicationDeps,
  actor: AuditedActor,
): OwnApplicationOperations {
  const person = actor.id;
  const describeAction = createActionDescriber(audit, actor);

  async function withdraw(id: string): Promise<boolean> {
    const consent = await consents.get(id);
    if (consent?.person !== person) return false;
    return consents.remove(id, describeWithdrawal(consent, describeAction));
  }

  return {
    list: () =>
      convertError(async () => {
        const own = await consents.listOf({ person });
        return { person, applications: own.map(showApplication) };
      }),
    withdraw: (id) =>
      convertError(async () => {
        if (!(await withdraw(id)))
          throw createAdminError(404, `You have no consent ${JSON.stringify(id)} to an application.`);
      }),
  };
}

async function convertError<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw toAdminError(error);
  }
}
