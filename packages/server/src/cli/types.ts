/** `types`: writes types of the models of an Odoo server, for the clients for TypeScript and Python. */
import { EXECUTE_PATH, KEY_HEADER, tryParse } from '@erp-proxy/contract';
import { type Command, CommandError, type CommandInput } from './command.ts';
import { createDispatcherTo, postJson } from './post.ts';
import { locateRoute, PROXY_OPTIONS, readAddress, readKey } from './proxy-access.ts';
import { readText } from './read-text.ts';
import { type Ask, type DescribedModel, Refusal, readModels } from './types/read-models.ts';
import { renderPythonTypes } from './types/render-python-types.ts';
import { renderTypes } from './types/render-types.ts';

export const typesCommand: Command = {
  name: 'types',
  arguments: ['[odoo-url]'],
  summary: 'Write types of the models of an Odoo server, read through a running proxy.',
  options: {
    models: {
      value: 'patterns',
      description:
        'The models, e.g. "res.partner,sale.*". A pattern with * needs the right to read ir.model.',
    },
    instance: { value: 'name', description: 'Name of a stored instance, in place of an address.' },
    db: { value: 'name', description: 'With an address: name of the database.' },
    'user-id': { value: 'number', description: 'With an address: id of the user in Odoo.' },
    'api-key-file': {
      value: 'file',
      description: "With an address: file that contains the user's API key; - for standard input.",
    },
    lang: {
      value: 'code',
      description: "Language of the comments, e.g. en_US. Default: the user's language.",
    },
    language: { value: 'name', description: 'typescript (default) or python.' },
    values: {
      value: 'form',
      description:
        'With python: the form of values of the client, odoo (default) or normalized. TypeScript has both.',
    },
    output: { short: 'o', value: 'file', description: 'Write to this file. Default: standard output.' },
    check: { description: 'Write nothing, and fail if the file of --output differs. For CI.' },
    ...PROXY_OPTIONS,
  },
  async run(input) {
    const patterns = readPatterns(input);
    const render = readLanguage(input);
    const output = input.option('output');
    if (input.isSet('check') && output === undefined) throw new CommandError('--check needs --output.');
    const base = readAddress(input);
    const headers = { [KEY_HEADER]: await readKey(input), 'x-request-timeout': String(TIMEOUT_SECONDS) };
    const instance = await readInstance(input);
    const egress = createDispatcherTo(base.origin);
    const lang = input.option('lang');
    const context = lang === undefined ? {} : { context: { lang } };
    const ask: Ask = async (model, action, params, keyword) => {
      const call = {
        action,
        model_id: model,
        params,
        keyword: { ...keyword, ...context },
        erp_instance: instance,
      };
      const url = locateRoute(base, EXECUTE_PATH);
      const answer = await postJson(egress, url, JSON.stringify(call), {
        headers,
        bytesMax: ANSWER_BYTES_MAX,
      });
      if (!answer.ok) {
        throw new CommandError(`${model}: no answer from ${base.origin} (${answer.detail}).`, 1);
      }
      return readResult(answer.body, base.origin);
    };
    try {
      const leaveOut = (model: string, reason: string) => input.complain(`Left out: ${model}: ${reason}\n`);
      const text = render(await readModels(ask, patterns, leaveOut));
      if (input.isSet('check')) return await compareWith(output as string, text, input);
      if (output === undefined) input.print(text);
      else await input.writeFile(output, text);
      return 0;
    } catch (error) {
      if (error instanceof Refusal) throw new CommandError(error.message, 1);
      throw error;
    } finally {
      await egress.close();
    }
  },
};

/** Long, because describing a large model takes Odoo seconds. */
const TIMEOUT_SECONDS = 120;
/** Large, because the largest models have descriptions of some megabytes. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

function readPatterns({ option }: CommandInput): string[] {
  const patterns = (option('models') ?? '').split(',').flatMap((text) => text.trim() || []);
  if (patterns.length === 0) throw new CommandError('Give the models: --models "res.partner,sale.*".');
  const wrong = patterns.find((pattern) => !/^[A-Za-z0-9_.*]+$/.test(pattern));
  if (wrong !== undefined)
    throw new CommandError(`--models: "${wrong}" is not the name or pattern of a model.`);
  return patterns;
}

/** Returns the function that prints models in the language of the options. */
function readLanguage({ option }: CommandInput): (models: readonly DescribedModel[]) => string {
  const language = option('language') ?? 'typescript';
  const form = option('values');
  if (language === 'typescript') {
    if (form !== undefined) throw new CommandError('--values needs --language python.');
    return renderTypes;
  }
  if (language !== 'python') throw new CommandError('--language must be typescript or python.');
  if (form !== undefined && form !== 'odoo' && form !== 'normalized')
    throw new CommandError('--values must be odoo or normalized.');
  return (models) => renderPythonTypes(models, form ?? 'odoo');
}

async function readInstance({ arguments: [url], option, readInput }: CommandInput): Promise<object> {
  const name = option('instance');
  const [db, userId, file] = [option('db'), option('user-id'), option('api-key-file')];
  if ((url === undefined) === (name === undefined)) {
    throw new CommandError(
      'Give a stored instance with --instance <name>, or the address of an Odoo server.',
    );
  }
  if (name !== undefined) {
    if (db ?? userId ?? file) {
      throw new CommandError('--instance has a database, a user and a key of its own: leave the others out.');
    }
    return { name };
  }
  if (db === undefined || userId === undefined || file === undefined || !/^[1-9]\d{0,9}$/.test(userId)) {
    throw new CommandError('With an address give --db, --user-id (a positive number) and --api-key-file.');
  }
  const apiKey = readText(file, await readInput(file)).trim();
  if (apiKey === '') throw new CommandError(`--api-key-file: there is no key in ${file}.`);
  return { url, db, user_id: Number(userId), api_key: apiKey };
}

function readResult(body: Buffer, origin: string): unknown {
  const answer = tryParse(body.toString()) as {
    result?: unknown;
    error?: { message?: unknown; data?: { type?: unknown; retryable?: unknown; nearest?: unknown } };
  } | null;
  if (answer?.error) {
    const { data, message } = answer.error;
    const nearest = Array.isArray(data?.nearest) ? data.nearest : [];
    const text = String(message);
    const advised =
      nearest.length === 0 ? text : `${text.replace(/\.?$/, '.')} Did you mean ${nearest.join(' or ')}?`;
    throw new Refusal(String(data?.type), advised, data?.retryable === true);
  }
  if (typeof answer === 'object' && answer !== null && 'result' in answer) return answer.result;
  throw new CommandError(`The answer of ${origin} is not one of erp-proxy; check the address.`, 1);
}

/**
 * Compares the types with those in the file. Names the first line that differs, so that a log of CI shows what has
 * changed in Odoo.
 */
async function compareWith(file: string, text: string, input: CommandInput): Promise<number> {
  const present = (await input.readInput(file)).toString();
  if (present === text) return 0;
  const [before, after] = [present.split('\n'), text.split('\n')];
  const at = after.findIndex((line, index) => line !== before[index]);
  const line = at < 0 ? after.length : at;
  input.complain(
    `${file} is stale. The first difference is in line ${line + 1}:\n- ${before[line] ?? ''}\n+ ${after[line] ?? ''}\nRun the command without --check, and commit the file.\n`,
  );
  return 1;
}
