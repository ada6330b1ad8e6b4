/**
 * Converts days, and times with a zone, in a domain to Odoo's form (docs/decisions/0033-tools-for-agents.md,
 * docs/odoo-facts.md#days-and-zones).
 */
import { cutText } from '@erp-proxy/contract';
import type { InstanceRecord } from '@erp-proxy/control/instances';
import { createDayFinder, isDay, isZonedTime, type LocalDay, readZonedTime } from '@erp-proxy/odoo/times';
import type { Session } from '../session.ts';
import { ToolError } from '../tool-error.ts';

export interface ReadDomain {
  /** The domain in the form for Odoo. */
  where: unknown[];
  /** The time zone of days that were compared with datetimes; absent if there are none. */
  zone: { time_zone?: string };
}

/** Maximum days and times that are converted. Converting a day takes some 25 µs, for which other callers wait. */
const CONVERTED_MAX = 100;
/** Maximum names in all different paths. Each name can require the fields of a further model from Odoo. */
const NAMES_MAX = 200;
/** Number of conditions that are read before other work gets its turn, which takes some milliseconds. */
const SLICE = 500;
const SHOWN_MAX = 100;
const DAY = /^[12]\d{3}-\d\d-\d\d$/;
/** How a comparison with a day is rewritten: compared with the beginning of the day, or with its end. */
const BOUNDS: ReadonlyMap<unknown, [operator: string, bound: keyof LocalDay]> = new Map([
  ['<', ['<', 'from']],
  ['>=', ['>=', 'from']],
  ['>', ['>=', 'to']],
  ['<=', ['<', 'to']],
]);
/** Operators that test equality, in lower case. Odoo also takes capital letters. */
const EQUALITIES: readonly unknown[] = ['=', '==', '=?', '!=', '<>', 'in', 'not in'];
const SUBDOMAINS: readonly unknown[] = ['any', 'not any'];

type Asked = Pick<Session, 'fields' | 'userContext'>;

/** Throws a {@link ToolError} for a time that does not exist, and for a day that a datetime cannot be equal to. */
export async function readDomain(
  session: Asked,
  instance: InstanceRecord,
  model: string,
  domain: readonly unknown[],
): Promise<ReadDomain> {
  const reader = new DomainReader(session, instance);
  const where = await reader.read(model, domain);
  return { where, zone: reader.timeZone === null ? {} : { time_zone: reader.timeZone } };
}

type Condition = [path: string, operator: string, value: unknown];

interface FoundField {
  type?: string;
  relation?: string | undefined;
}

class DomainReader {
  readonly #session: Asked;
  readonly #instance: InstanceRecord;
  #findDay: ((day: string) => LocalDay) | null = null;
  #converted = 0;
  /** Fields by model and path. */
  readonly #found = new Map<string, FoundField>();
  #names = 0;
  #conditions = 0;
  timeZone: string | null = null;

  constructor(session: Asked, instance: InstanceRecord) {
    this.#session = session;
    this.#instance = instance;
  }

  /** `model`: null if it is unknown. */
  async read(model: string | null, domain: readonly unknown[]): Promise<unknown[]> {
    const read: unknown[] = [];
    for (const item of domain) read.push(isRead(item) ? await this.#readCondition(model, item) : item);
    return read;
  }

  async #readCondition(model: string | null, [path, operator, value]: Condition): Promise<unknown[]> {
    if (++this.#conditions % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    const condition = [path, operator, value];
    const comparison = operator.toLowerCase();
    if (SUBDOMAINS.includes(comparison) && Array.isArray(value)) {
      const { relation = null } = await this.#findField(model, path);
      return [path, operator, await this.read(relation, value)];
    }
    const values: unknown[] = Array.isArray(value) ? value : [value];
    const { type } = await this.#findField(model, path);
    if (type === undefined) refuseUnknownType(path, values);
    if (type !== 'datetime') return condition;
    const [bound, name] = BOUNDS.get(comparison) ?? [];
    if (bound !== undefined && name !== undefined && isDayText(value))
      // A day that does not exist stays, so that Odoo refuses it.
      return isDay(value) ? [path, bound, (await this.#findLocalDay(value))[name]] : condition;
    const day = values.find(isDayText);
    if (day !== undefined) throw refuseEqualDay(path, day);
    const times = values.map((item) => (isZoned(item) ? this.#convert(item) : item));
    return [path, operator, Array.isArray(value) ? times : times[0]];
  }

  /** The field at the end of a path. `type` is undefined if it is unknown, and empty if there is no such field. */
  async #findField(model: string | null, path: string): Promise<FoundField> {
    if (model === null) return {};
    const key = `${model} ${path}`;
    const found = this.#found.get(key) ?? (await this.#followPath(model, path));
    this.#found.set(key, found);
    return found;
  }

  async #followPath(model: string, path: string): Promise<FoundField> {
    let found: FoundField = { relation: model };
    for (const name of path.split('.')) {
      if (found.relation === undefined) return { type: '' };
      if (++this.#names > NAMES_MAX) throw TOO_MANY_NAMES;
      const fields = await this.#session.fields(this.#instance, found.relation);
      if (fields === null) return {};
      found = fields.get(name) ?? { type: '' };
    }
    return found;
  }

  async #findLocalDay(day: string): Promise<LocalDay> {
    this.#count();
    this.timeZone ??= (await this.#session.userContext(this.#instance)).tz ?? 'UTC';
    this.#findDay ??= createDayFinder(this.timeZone);
    return this.#findDay(day);
  }

  #convert(time: string): string {
    this.#count();
    return convertTime(time);
  }

  #count(): void {
    if (++this.#converted <= CONVERTED_MAX) return;
    const message = `\`domain\` has more than ${CONVERTED_MAX} days and times with a zone for datetimes.`;
    throw new ToolError('invalid_params', message, {
      next: 'Send times in UTC, such as "2026-05-31 22:00:00".',
    });
  }
}

const TOO_MANY_NAMES = new ToolError(
  'invalid_params',
  `\`domain\` compares days or times with more than ${NAMES_MAX} fields, those of paths included.`,
  { next: 'Send fewer conditions, or times in UTC, such as "2026-05-31 22:00:00".' },
);

/** True for a condition that contains further conditions, or compares something with a day or a time with a zone. */
function isRead(item: unknown): item is Condition {
  if (!Array.isArray(item) || item.length !== 3) return false;
  const [path, operator, value] = item;
  if (typeof path !== 'string' || typeof operator !== 'string') return false;
  const comparison = operator.toLowerCase();
  if (Array.isArray(value) && SUBDOMAINS.includes(comparison)) return true;
  if (!BOUNDS.has(comparison) && !EQUALITIES.includes(comparison)) return false;
  return Array.isArray(value) ? value.some(isTime) : isTime(value);
}

function isTime(value: unknown): boolean {
  return isDayText(value) || isZoned(value);
}

function isDayText(value: unknown): value is string {
  return typeof value === 'string' && DAY.test(value);
}

function isZoned(value: unknown): value is string {
  return typeof value === 'string' && isZonedTime(value);
}

function convertTime(text: string): string {
  const time = readZonedTime(text);
  if (typeof time === 'string') return time;
  throw new ToolError('query_invalid', `There is no time "${text}".`, {
    next: 'Send a date and time that exist, such as "2026-05-31T22:00:00Z".',
  });
}

/**
 * Refuses times with a zone, which Odoo up to 18 would ignore. They cannot be converted either: in a field of another
 * type, the same text can be meant literally.
 */
function refuseUnknownType(path: string, values: readonly unknown[]): void {
  const zoned = values.find(isZoned);
  if (zoned === undefined) return;
  const message = `This key may not ask for the type of "${cutText(path, SHOWN_MAX)}", so that times with a zone cannot be converted.`;
  throw new ToolError('policy_denied', message, {
    next: `Send them in UTC: "${convertTime(zoned)}" for "${zoned}".`,
  });
}

/** Refuses equality with a day, which Odoo would read as the first second of the day in UTC. */
function refuseEqualDay(path: string, day: string): ToolError {
  const bounds = [
    [path, '>=', day],
    [path, '<=', day],
  ];
  return new ToolError('query_invalid', `"${path}" is a datetime, which no day is equal to.`, {
    next: `For that day, send two conditions: ${bounds.map((bound) => JSON.stringify(bound)).join(', ')}.`,
  });
}
