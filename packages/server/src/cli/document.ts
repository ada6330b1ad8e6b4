/** `document`: writes the report of a record as PDF, or those of several records as ZIP, through a running proxy. */
import { DOCUMENT_PATH, type ErrorBody, KEY_HEADER, tryParse } from '@erp-proxy/contract';
import { INSTANCE_VARIABLE } from '../config/names.ts';
import { type Command, CommandError, type CommandInput } from './command.ts';
import { createDispatcherTo, postJson } from './post.ts';
import {
  locateRoute,
  OTHER_VERSION,
  PROXY_OPTIONS,
  readAddress,
  readKey,
  readTimeout,
} from './proxy-access.ts';

export const documentCommand: Command = {
  name: 'document',
  summary: 'Write the report of a record as PDF, or those of several records as ZIP (docs/documents.md).',
  options: {
    instance: { value: 'name', description: `Name of the stored instance. Default: ${INSTANCE_VARIABLE}.` },
    model: { value: 'name', description: 'The model, e.g. sale.order.' },
    record: { value: 'id', description: 'The record. The file is a PDF.' },
    records: { value: 'ids', description: 'In place of --record, e.g. "7,8". The file is a ZIP archive.' },
    report: {
      value: 'name',
      description: 'Xmlid or name of the report. Default: the usual one of the model.',
    },
    lang: { value: 'code', description: 'Language of the report, e.g. fr_FR.' },
    output: { short: 'o', value: 'file', description: 'The file to write.' },
    timeout: { value: 'seconds', description: 'Time limit of each document. Default: 15.' },
    ...PROXY_OPTIONS,
  },
  async run(input) {
    const body = readBody(input);
    const output = need(input, 'output');
    const base = readAddress(input);
    const timeout = readTimeout(input);
    const headers = {
      [KEY_HEADER]: await readKey(input),
      ...(timeout === undefined ? {} : { 'x-request-timeout': timeout }),
    };
    const egress = createDispatcherTo(base.origin);
    try {
      const url = locateRoute(base, DOCUMENT_PATH);
      const answer = await postJson(egress, url, JSON.stringify(body), { headers });
      if (!answer.ok) {
        input.complain(
          `No whole answer from ${base.origin} (${answer.detail}); is the proxy running there?\n`,
        );
        return 1;
      }
      const type = String(answer.headers['content-type'] ?? '');
      if (answer.status !== 200 || !/^application\/(pdf|zip)/.test(type)) {
        input.complain(`${readProblem(answer.body, base.origin)}\n`);
        return 1;
      }
      await input.writeFile(output, answer.body);
      return 0;
    } finally {
      await egress.close();
    }
  },
};

function readBody(input: CommandInput): object {
  const [record, records] = [input.option('record'), input.option('records')];
  if ((record === undefined) === (records === undefined))
    throw new CommandError('Give --record, or --records for an archive.');
  const [report, lang] = [input.option('report'), input.option('lang')];
  return {
    model_id: need(input, 'model'),
    ...(record === undefined ? {} : { record: readId(record) }),
    ...(records === undefined ? {} : { records: records.split(',').map(readId) }),
    ...(report === undefined ? {} : { report }),
    ...(lang === undefined ? {} : { lang }),
    erp_instance: { name: need(input, 'instance') },
  };
}

function need({ option, env }: CommandInput, name: string): string {
  const value = option(name) ?? (name === 'instance' ? env[INSTANCE_VARIABLE] : undefined);
  if (value) return value;
  throw new CommandError(`--${name} is missing. document needs --instance, --model, --record and --output.`);
}

function readId(text: string): number {
  const id = text.trim();
  if (/^[1-9]\d{0,9}$/.test(id)) return Number(id);
  throw new CommandError(`"${text}" is not the id of a record.`);
}

function readProblem(body: Buffer, origin: string): string {
  const answer = tryParse(body.toString()) as { error?: ErrorBody } | undefined;
  if (answer?.error?.data === undefined)
    return `The answer is not one of erp-proxy; check the address ${origin}.`;
  const { message, data } = answer.error;
  return data.type === 'route_not_found' ? OTHER_VERSION : `${data.type}: ${message}`;
}
