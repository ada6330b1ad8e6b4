/** Reads the secrets of a plan from the places that the file names, before anything is changed. */
import { InputError, readChanges } from '@erp-proxy/control/instances';
import type { LocatedSecret, SecretSource } from './configuration.ts';
import type { LineError } from './document.ts';
import type { Step } from './plan.ts';

export type Secrets = ReadonlyMap<Step, string>;

interface SecretMeans {
  env: Readonly<Record<string, string | undefined>>;
  /** Reads a file whose path is relative to the configuration file. Rejects with a message for people. */
  readFile(path: string): Promise<Buffer>;
}

export async function readSecrets(
  steps: readonly Step[],
  means: SecretMeans,
): Promise<{ secrets: Secrets } | { errors: LineError[] }> {
  const secrets = new Map<Step, string>();
  const errors: LineError[] = [];
  for (const step of steps) {
    const secret = 'secret' in step.action ? step.action.secret : null;
    if (secret === null) continue;
    const read = await readSecret(secret, means);
    if (typeof read === 'string') secrets.set(step, read);
    else errors.push(read);
  }
  return errors.length > 0 ? { errors } : { secrets };
}

async function readSecret({ line, source }: LocatedSecret, means: SecretMeans): Promise<string | LineError> {
  const text = await readSource(source, means);
  if (typeof text !== 'string') return { line, message: text.error };
  try {
    readChanges({ api_key: text });
    return text;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const [{ message } = { message: '' }] = error.invalidMembers;
    return { line, message: `what ${'env' in source ? source.env : source.file} holds ${message}` };
  }
}

async function readSource(source: SecretSource, { env, readFile }: SecretMeans) {
  if ('env' in source) {
    return env[source.env] || { error: `the environment variable ${source.env} is not set, or empty` };
  }
  try {
    // Removes the line break at the end, which editors and `echo` add to the secret.
    return (await readFile(source.file)).toString().replace(/\r?\n$/, '');
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
