/**
 * `export`: prints all records of a model, read through a running proxy, and resumes by itself if the connection
 * breaks.
 */

import { ByteStreamError, readStream } from '@erp-proxy/async/streams';
import { delay } from '@erp-proxy/async/tasks';
import { type ErrorBody, EXPORT_PATH, KEY_HEADER, tryParse } from '@erp-proxy/contract';
import type { EgressDispatcher } from '@erp-proxy/egress';
import { INSTANCE_VARIABLE } from '../config/names.ts';
import { type Command, CommandError, type CommandInput, readNumber } from './command.ts';
import { cutCsv, cutNdjson } from './export/record-texts.ts';
import { createDispatcherTo } from './post.ts';
import {
  locateRoute,
  OTHER_VERSION,
  PROXY_OPTIONS,
  readAddress,
  readKey,
  readTimeout,
} from './proxy-access.ts';

const RETRIES = 5;
const DELAY_MS = 1000;
const RETRY_AFTER_SECONDS_MAX = 300;
const PROGRESS_MS = 500;
/**
 * A connection that delivers no byte for this long counts as broken. The proxy itself is silent for two minutes at
 * most.
 */
const SILENCE_MS_MAX = 310_000;
const ERROR_BYTES_MAX = 1024 * 1024;

export const exportCommand: Command = {
  name: 'export',
  summary: 'Print all records of a model, the lowest id first, read through a running proxy.',
  options: {
    instance: { value: 'name', description: `Name of the stored instance. Default: ${INSTANCE_VARIABLE}.` },
    model: { value: 'name', description: 'The model, e.g. res.partner.' },
    fields: { value: 'names', description: 'The fields, e.g. "name,email". id is always printed.' },
    domain: {
      value: 'json',
      description: `Conditions, e.g. '[["is_company", "=", true]]'. Default: all records.`,
    },
    context: { value: 'json', description: `e.g. '{"active_test": false}'.` },
    format: { value: 'format', description: 'ndjson or csv. Default: ndjson.' },
    bom: { description: 'csv: begin with a byte order mark, for spreadsheets.' },
    delimiter: { value: 'character', description: 'csv: "," (default), ";", "|" or tab.' },
    'no-escape-formulas': { description: "csv: no ' before texts that spreadsheets would run as formulas." },
    values: { value: 'form', description: 'normalized: converted values (docs/values.md).' },
    limit: { value: 'count', description: 'Maximum number of records.' },
    after: { value: 'id', description: 'Begin behind the record with this id.' },
    retries: {
      value: 'count',
      description: `Maximum number of attempts in a row that give no record, after the first one. Default: ${RETRIES}.`,
    },
    timeout: { value: 'seconds', description: 'Time limit of each page that the proxy reads.' },
    ...PROXY_OPTIONS,
  },
  async run(input) {
    const request = readRequest(input);
    const base = readAddress(input);
    const headers = {
      'content-type': 'application/json',
      [KEY_HEADER]: await readKey(input),
      ...(request.isNormalized ? { prefer: 'values=normalized' } : {}),
      ...(request.timeout === undefined ? {} : { 'x-request-timeout': request.timeout }),
    };
    const egress = createDispatcherTo(base.origin);
    try {
      return await printRecords({ egress, base, headers }, request, input);
    } finally {
      await egress.close();
    }
  },
};

interface ExportRequest {
  body: object;
  format: 'ndjson' | 'csv';
  isNormalized: boolean;
  timeout: string | undefined;
  retries: number;
  limit: number | undefined;
  after: number | undefined;
}

function readRequest(input: CommandInput): ExportRequest {
  const need = (name: string) => {
    const value = input.option(name) ?? (name === 'instance' ? input.env[INSTANCE_VARIABLE] : undefined);
    if (value) return value;
    throw new CommandError(
      `--${name} is missing. export prints records: give --instance, --model and --fields. (config export prints policies and instances.)`,
    );
  };
  const [instance, model, fields] = [need('instance'), need('model'), need('fields')];
  const format = input.option('format') ?? 'ndjson';
  if (format !== 'ndjson' && format !== 'csv')
    throw new CommandError(`--format "${format}" must be ndjson or csv.`);
  const values = input.option('values');
  if (values !== undefined && values !== 'normalized')
    throw new CommandError(`--values "${values}" must be normalized.`);
  const body = {
    model_id: model,
    fields: fields.split(',').map((name) => name.trim()),
    format,
    ...readCsvForm(input, format),
    ...readJson(input, 'domain', Array.isArray, 'an array of conditions'),
    ...readJson(
      input,
      'context',
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'an object',
    ),
    erp_instance: { name: instance },
  };
  return {
    body,
    format,
    isNormalized: values !== undefined,
    timeout: readTimeout(input),
    retries: readNumber(input, 'retries', /^\d+$/, 'a number of attempts') ?? RETRIES,
    limit: readNumber(input, 'limit', /^[1-9]\d*$/, 'a number of records'),
    after: readNumber(input, 'after', /^-?\d+$/, 'an id'),
  };
}

const DELIMITERS: Readonly<Record<string, string>> = { ',': ',', ';': ';', '|': '|', tab: '\t', '\t': '\t' };

/** Omits members that are not given, because an older proxy does not know them. */
function readCsvForm({ option, isSet }: CommandInput, format: string): object {
  const given = ['bom', 'delimiter', 'no-escape-formulas'].find(
    (name) => isSet(name) || option(name) !== undefined,
  );
  if (given !== undefined && format !== 'csv') throw new CommandError(`--${given} is for --format csv only.`);
  const asked = option('delimiter');
  const delimiter = asked === undefined ? undefined : DELIMITERS[asked];
  if (asked !== undefined && delimiter === undefined)
    throw new CommandError(`--delimiter "${asked}" must be ",", ";", "|" or tab.`);
  return {
    ...(isSet('bom') ? { bom: true } : {}),
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(isSet('no-escape-formulas') ? { escape_formulas: false } : {}),
  };
}

function readJson(
  { option }: CommandInput,
  name: string,
  isGood: (value: unknown) => boolean,
  what: string,
): object {
  const text = option(name);
  if (text === undefined) return {};
  const value = tryParse(text);
  if (isGood(value)) return { [name]: value };
  throw new CommandError(`--${name} must be ${what}, as JSON in quotes of the shell.`);
}

interface Connection {
  egress: EgressDispatcher;
  base: URL;
  headers: Record<string, string>;
}

/** Why a request ended before the last record. */
interface Problem {
  message: string;
  isPassing: boolean;
  retryAfterSeconds: number;
}

async function printRecords(
  connection: Connection,
  request: ExportRequest,
  input: CommandInput,
): Promise<number> {
  const progress = startProgress(input);
  let { after } = request;
  let printed = 0;
  for (let attempt = 1; ; attempt++) {
    const limit = request.limit === undefined ? undefined : request.limit - printed;
    if (limit === 0) return progress.end();
    const run = createRun(request, printed === 0, input, progress);
    const problem = await requestOnce(connection, { ...request.body, limit, after }, run);
    printed += run.count;
    if (run.lastId !== null) {
      after = run.lastId;
      attempt = 1;
    }
    if (problem === null) return progress.end();
    const { retryAfterSeconds } = problem;
    const canGoOn =
      problem.isPassing && attempt <= request.retries && retryAfterSeconds <= RETRY_AFTER_SECONDS_MAX;
    if (!canGoOn) {
      progress.end();
      const hint = after === undefined ? '' : ` Go on with --after ${after}.`;
      const what = printed > 0 ? `The export broke off after ${printed} records: ` : '';
      input.complain(`${what}${problem.message}${hint}\n`);
      return 1;
    }
    await delay(Math.max(retryAfterSeconds * 1000, DELAY_MS * 2 ** (attempt - 1)));
  }
}

/** Handles the records of one request. */
interface Run {
  count: number;
  readonly lastId: number | null;
  readonly isCut: boolean;
  take(piece: Uint8Array): Promise<void>;
}

function createRun(
  { format }: ExportRequest,
  isFirst: boolean,
  { print, untilTaken }: CommandInput,
  progress: Progress,
): Run {
  const texts = format === 'csv' ? cutCsv(isFirst) : cutNdjson();
  return {
    count: 0,
    get lastId() {
      return texts.lastId;
    },
    get isCut() {
      return texts.isCut;
    },
    async take(piece) {
      const { text, count } = texts.push(piece);
      if (text === '') return;
      print(text);
      this.count += count;
      progress.add(count, piece.length);
      await untilTaken();
    },
  };
}

/** Makes one request. Returns null if the export is complete. */
async function requestOnce(
  { egress, base, headers }: Connection,
  body: object,
  run: Run,
): Promise<Problem | null> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), SILENCE_MS_MAX);
  try {
    const path = locateRoute(base, EXPORT_PATH).pathname;
    const sent = {
      method: 'POST' as const,
      origin: base.origin,
      path,
      headers,
      body: Buffer.from(JSON.stringify(body)),
    };
    const answer = await egress.send(sent, { signal: controller.signal });
    if (!answer.ok)
      return pass(`No answer from ${base.origin} (${answer.detail}); is the proxy running there?`);
    const type = String(answer.headers['content-type'] ?? '');
    if (answer.status !== 200 || !/^(application\/x-ndjson|text\/csv)/.test(type)) {
      const seconds = Number(answer.headers['retry-after'] ?? 0) || 0;
      return readProblem(await readStream(answer.body, ERROR_BYTES_MAX), base.origin, seconds);
    }
    for (let piece = await answer.body.next(); piece !== null; piece = await answer.body.next()) {
      await run.take(piece);
      timer.refresh();
    }
    return run.isCut ? pass('The answer ended within a record.') : null;
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
    return pass('The connection was closed.');
  } finally {
    clearTimeout(timer);
  }
}

function pass(message: string): Problem {
  return { message, isPassing: true, retryAfterSeconds: 0 };
}

function readProblem(body: Buffer | null, origin: string, retryAfterSeconds: number): Problem {
  try {
    const { error } = JSON.parse(String(body)) as { error: ErrorBody };
    const { message, data } = error;
    const text = data.type === 'route_not_found' ? OTHER_VERSION : `${data.type}: ${message}`;
    return { message: text, isPassing: data.retryable, retryAfterSeconds };
  } catch {
    const message = `The answer is not one of erp-proxy; check the address ${origin}.`;
    return { message, isPassing: false, retryAfterSeconds };
  }
}

interface Progress {
  add(records: number, bytes: number): void;
  /** Shows the final figures. Returns the exit status of a success. */
  end(): 0;
}

/** Shows the progress as one line on standard error, if that is a terminal. */
function startProgress({ complain, isErrorTerminal }: CommandInput): Progress {
  if (!isErrorTerminal) return { add() {}, end: () => 0 };
  const startedMs = performance.now();
  let shownMs = startedMs;
  let [records, bytes] = [0, 0];
  const show = (nowMs: number) => {
    const rate = Math.round(records / Math.max((nowMs - startedMs) / 1000, 0.001));
    const mebibytes = (bytes / 2 ** 20).toFixed(1);
    complain(
      `\r\x1b[K${records.toLocaleString('en')} records, ${mebibytes} MiB, ${rate.toLocaleString('en')}/s`,
    );
  };
  return {
    add(moreRecords, moreBytes) {
      records += moreRecords;
      bytes += moreBytes;
      const nowMs = performance.now();
      if (nowMs - shownMs < PROGRESS_MS) return;
      shownMs = nowMs;
      show(nowMs);
    },
    end() {
      show(performance.now());
      complain('\n');
      return 0;
    },
  };
}
