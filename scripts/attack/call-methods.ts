/**
 * Calls each public method of each installed model with a key that has `*` for this model alone, with arguments that
 * name other models, and checks whether records changed that control access.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDenied, type Target } from './target.ts';

interface Method {
  /** True if the method takes no records. */
  model?: boolean;
  parameters: readonly string[];
}

interface Table {
  models: Record<string, { inherit?: string[]; methods?: Record<string, Method> }>;
}

/** Models whose records control access, or run code. A policy for another model must not allow changes of them. */
const GUARDED = [
  'base.automation',
  'ir.actions.act_url',
  'ir.actions.report',
  'ir.actions.server',
  'ir.config_parameter',
  'ir.cron',
  'ir.mail_server',
  'ir.model',
  'ir.model.access',
  'ir.model.fields',
  'ir.rule',
  'ir.ui.view',
  'mail.template',
  'res.company',
  'res.groups',
  'res.users',
  'res.users.apikeys',
];
/**
 * What Odoo changes itself, without a value of the call:
 *
 * - The page of an event is a copy of a fixed view.
 * - The company keeps that no messages are sent for its deliveries.
 * - The team of a user is that of the first membership.
 * - The user of the call gets karma for a course that is finished.
 * - An alert or a supplier of lunches is deleted with its own scheduled action.
 */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'confirm.stock.sms': ['res.company'],
  'crm.team.member': ['res.users'],
  'event.event': ['ir.ui.view'],
  'lunch.alert': ['ir.actions.server', 'ir.cron'],
  'lunch.supplier': ['ir.actions.server', 'ir.cron'],
  'slide.slide': ['res.users'],
};
const NAME = 'attack-by-name';
const PROGRESS_EVERY = 50;

/** `from`: the models before this one are left out; empty: none is. */
export async function callMethods(target: Target, folder: string, from: string): Promise<number> {
  const { models }: Table = JSON.parse(readFileSync(join(folder, `${target.version}.json`), 'utf8'));
  const installed: { model: string }[] = await target.odoo('ir.model', 'search_read', [[], ['model']]);
  const sorted = installed.map(({ model }) => model).sort();
  const names = sorted.filter((model) => model >= from && !GUARDED.includes(model));
  const guarded = GUARDED.filter((model) => installed.some((each) => each.model === model));
  let [failures, sent, denied] = [0, 0, 0];
  let before = await describeGuarded(target, guarded);
  for (const [index, model] of names.entries()) {
    const call = await target.limitExecute({ models: { [model]: ['*'] } });
    const ids: number[] = await target.odoo(model, 'search', [[]], { limit: 1 }).catch(() => []);
    for (const [method, about] of listMethods(models, model)) {
      for (const params of listArguments(about, ids)) {
        const { error } = await call(method, model, params);
        if (isDenied(error)) denied++;
        else sent++;
      }
    }
    const after = await describeGuarded(target, guarded);
    const changes = listChanges(before, after).filter(
      (line) => EXPECTED[model]?.some((expected) => line.startsWith(`${expected} `)) !== true,
    );
    if (changes.length > 0) {
      failures++;
      console.log(`  FAILED methods of ${model} changed ${changes.join(', ')}`);
    }
    before = after;
    if (index % PROGRESS_EVERY === 0) console.log(`         ${index} of ${names.length} models: ${model}`);
  }
  console.log(
    `  ${failures === 0 ? 'ok    ' : 'FAILED'} all public methods by *: ${denied} denied, ${sent} sent`,
  );
  return failures;
}

/** The methods of a model and of the mixins from which it inherits. */
function listMethods(models: Table['models'], model: string) {
  const found = new Map<string, Method>();
  const pending = ['base', model];
  const seen = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const [method, about] of Object.entries(models[name]?.methods ?? {})) {
      if (!found.has(method)) found.set(method, about);
    }
    pending.push(...(models[name]?.inherit ?? []));
  }
  return found;
}

/** Lists of positional arguments whose values name users, a method of users, or code. */
function listArguments({ model: isOfModel, parameters }: Method, ids: readonly number[]): unknown[][] {
  const names = parameters.filter((name) => !name.startsWith('*'));
  const records = isOfModel === true ? [] : [ids];
  const user = { login: NAME, name: NAME, active: true };
  const give = (values: Record<string, unknown>, other: unknown) => [
    ...records,
    ...names.map((name) => find(values, name) ?? other),
  ];
  return [
    give({ model: 'res.users', method: 'create', id: 2, vals: user, value: user, data: user }, NAME),
    give({ model: 'res.users', name: NAME, ids, domain: [], field: 'login', vals: user }, [user]),
  ];
}

function find(values: Record<string, unknown>, name: string): unknown {
  const key = Object.keys(values).find((each) => name.includes(each));
  return key === undefined ? undefined : values[key];
}

/** Number and last change of the guarded records, as lines of text. */
async function describeGuarded({ odoo }: Target, guarded: readonly string[]): Promise<string> {
  const context = { active_test: false };
  const lines = await Promise.all(
    guarded.map(async (model) => {
      const count = await odoo(model, 'search_count', [[]], { context });
      const at = model === 'res.users.apikeys' ? 'create_date' : 'write_date';
      const asked = { order: `${at} desc`, limit: 1, context };
      const [last] = await odoo(model, 'search_read', [[], [at]], asked);
      return `${model} ${count} ${last?.[at]}`;
    }),
  );
  return lines.join('\n');
}

function listChanges(before: string, after: string): string[] {
  const was = new Set(before.split('\n'));
  return after.split('\n').filter((line) => !was.has(line));
}
