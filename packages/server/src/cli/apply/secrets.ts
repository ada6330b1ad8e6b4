/** Reads the secrets that a plan needs from where the file says they lie; before anything is changed. */
import { InstanceFault, readChanges } from '../../instances/members.ts';
import type { LocatedSecret, SecretSource } from './configuration.ts';
import type { LineFault } from './document.ts';
import type { Step } from './plan.ts';

export type Secrets = ReadonlyMap<Step, string>;

interface SecretMeans {
  env: Readonly<Record<string, string | undefined>>;
  /** The path is relative to the file that names it. Rejects with words for people. */
  readFile(path: string): Promise<Buffer>;
}

export async function readSecrets(
  steps: readonly Step[],
  means: SecretMeans,
): Promise<{ secrets: Secrets } | { faults: LineFault[] }> {
  const secrets = new Map<Step, string>();
  const faults: LineFault[] = [];
  for (const step of steps) {
    const secret = 'secret' in step.action ? step.action.secret : null;
    if (secret === null) continue;
    const read = await readSecret(secret, means);
    if (typeof read === 'string') secrets.set(step, read);
    else faults.push(read);
  }
  return faults.length > 0 ? { faults } : { secrets };
}

async function readSecret({ line, source }: LocatedSecret, means: SecretMeans): Promise<string | LineFault> {
  const text = await readSource(source, means);
  if (typeof text !== 'string') return { line, message: text.fault };
  try {
    readChanges({ api_key: text });
    return text;
  } catch (error) {
    if (!(error instanceof InstanceFault)) throw error;
    const [{ message } = { message: '' }] = error.faults;
    return { line, message: `what ${'env' in source ? source.env : source.file} holds ${message}` };
  }
}

async function readSource(source: SecretSource, { env, readFile }: SecretMeans) {
  if ('env' in source) {
    return env[source.env] || { fault: `the environment variable ${source.env} is not set, or empty` };
  }
  try {
    // Editors and `echo` end a file with a line break that is no part of the secret.
    return (await readFile(source.file)).toString().replace(/\r?\n$/, '');
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
