/** `get_context`: the user, the servers and the present time. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import { isObject } from '@erp-proxy/json';
import { mayCall } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { asRows } from '../as-rows.ts';
import { nullIfRefused, type Session } from '../session.ts';
import { showRecords } from '../show.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';

const INSTANCES_MAX = 50;

export const getContext = defineTool({
  name: 'get_context',
  title: 'Who and where am I',
  description:
    "Returns today's date, the Odoo user with language and time zone, companies, and the Odoo servers (instances). Call it first if the task depends on dates, on the user (“my orders”) or on a company.",
  input: z.strictObject({ instance: given.instance }),
  output: z.object({
    today: z.string(),
    instances: z.array(z.string()),
    instance: z.string().optional(),
    user: z.record(z.string(), z.unknown()).optional(),
    companies: z.array(given.record).optional(),
    may_write: z.boolean(),
    hint: z.string().optional(),
  }),
  example: '{}',
  hints: { readOnlyHint: true },
  isOffered: () => true,
  async run({ instance }, session) {
    const instances = (await session.listInstances()).map(({ name }) => name);
    const base = {
      instances: instances.slice(0, INSTANCES_MAX),
      may_write: session.policy?.policy.read_only !== true,
    };
    if (instance === undefined && instances.length !== 1) {
      const hint =
        'Send `instance` with every call. Call get_context with it for the user and the companies.';
      return { today: printDay(session.clock(), 'UTC'), ...base, hint };
    }
    const target = await session.pickInstance(instance);
    const { lang, tz } = await session.userContext(target);
    const user = await readUser(target, session);
    return {
      today: printDay(session.clock(), tz ?? 'UTC'),
      ...base,
      instance: target.name,
      user: { ...user.user, lang: lang ?? null, tz: tz ?? null },
      companies: user.companies,
      ...(user.companies.length < user.companiesCount
        ? { hint: `There are ${user.companiesCount} companies. ${FIND_COMPANIES}` }
        : {}),
    };
  },
});

const FIND_COMPANIES = 'Find the others by search_records {"model": "res.company", "query": "…"}.';
const NO_COMPANIES = { companies: [], companiesCount: 0 };

/** The members of the user that the key may read. */
async function readUser(instance: InstanceRecord, session: Session) {
  const { userId } = instance;
  const known = { id: userId };
  if (!mayCall(session.policy, 'res.users', 'read')) return { user: known, ...NO_COMPANIES };
  const fields = ['name', 'login', 'company_id', 'company_ids'];
  const [row] = asRows(
    await session.call(instance, 'res.users', 'read', [[userId], fields]).catch(nullIfRefused),
  );
  if (row === undefined) return { user: known, ...NO_COMPANIES };
  const ids = row['company_ids'];
  const companies = Array.isArray(ids) ? ids.filter((id) => Number.isSafeInteger(id)) : [];
  const rows = mayCall(session.policy, 'res.company', 'read')
    ? asRows(
        await session
          .call(instance, 'res.company', 'read', [companies, ['name', 'currency_id']])
          .catch(nullIfRefused),
      )
    : [];
  const { name, login, company_id: company } = row;
  const shown = rows.map(({ id, name, currency_id }) => ({
    id,
    name,
    currency: isObject(currency_id) ? currency_id['name'] : null,
  }));
  return {
    user: { ...known, ...showRecords([{ name, login, company }], null).records[0] },
    companies: showRecords(shown, null).records,
    companiesCount: shown.length,
  };
}

/** Prints a day as `2026-11-22 Sunday`. */
function printDay(at: number, timeZone: string): string {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(at);
  return `${day} ${new Intl.DateTimeFormat('en', { timeZone, weekday: 'long' }).format(at)}`;
}
