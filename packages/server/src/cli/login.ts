/**
 * `login` and `logout`: a person signs in by the identity provider of a proxy, and commands with `--url` then act as
 * this person.
 */
import { hash, randomBytes } from 'node:crypto';
import { delay } from '@erp-proxy/async/tasks';
import { URL_VARIABLE } from '../config/names.ts';
import { readResult, type SignInResult, startWaitingServer } from './await-sign-in.ts';
import { type Command, CommandError, type CommandInput, JSON_OPTION, printResult } from './command.ts';
import { readProxyUrl } from './console.ts';
import { openBrowser } from './open-browser.ts';
import { createSessionClient } from './session-client.ts';
import { createStoredSessions } from './stored-sessions.ts';

/** The proxy gives as long to sign in. */
const WAIT_MS = 600_000;

const URL_OPTION = {
  value: 'address',
  description: `Address of the proxy. Default: ${URL_VARIABLE}, http.publicUrl, or http.host and http.port.`,
};

export const loginCommands: readonly Command[] = [
  {
    name: 'login',
    summary:
      'Sign in at a proxy by its identity provider, in a browser. Commands with --url then act as you, for eight hours at most.',
    options: {
      url: URL_OPTION,
      'no-browser': { description: 'Print the address only; do not open it in a browser.' },
      json: JSON_OPTION,
    },
    async run(input) {
      const client = createSessionClient(readProxyUrl(input));
      const { base } = client;
      try {
        const { sign_in_url: start } = await client.listWaysToSignIn();
        if (start === null) throw new CommandError(explainNoProvider(base), 1);
        const verifier = randomBytes(32).toString('base64url');
        const { code, answer } = await signIn(input, start, verifier);
        const signedIn = await client.takeProgramSession({ code, verifier }).catch((error: unknown) => {
          answer('The sign-in failed. The terminal shows why.');
          throw error;
        });
        const { session, ...view } = signedIn;
        await createStoredSessions(input.env).save(base, session);
        answer(
          `You are signed in as ${view.actor.name}. You can close this page and return to the terminal.`,
        );
        return printResult(
          input,
          view,
          `You are signed in at ${base.href} as ${view.actor.name} (${view.role}) until ${view.expires_at} at the latest. Commands with --url ${base.href} act as you.\n`,
        );
      } finally {
        await client.close();
      }
    },
  },
  {
    name: 'logout',
    summary: 'End the session that login has started.',
    options: { url: URL_OPTION },
    async run(input) {
      const client = createSessionClient(readProxyUrl(input));
      const { base } = client;
      try {
        const sessions = createStoredSessions(input.env);
        const session = await sessions.find(base);
        if (session === null) throw new CommandError(`You are not signed in at ${base.href}.`, 1);
        await sessions.remove(base);
        await client.logout(session);
        input.print(`You are signed out at ${base.href}.\n`);
        return 0;
      } finally {
        await client.close();
      }
    },
  },
];

type Answer = (sentence: string) => void;

/** Waits until the person has signed in, in the browser that opens or in another one. */
async function signIn(
  input: CommandInput,
  start: string,
  verifier: string,
): Promise<{ code: string; answer: Answer }> {
  const server = await startWaitingServer();
  const ended = new AbortController();
  try {
    const address = new URL(start);
    address.searchParams.set('port', String(server.port));
    address.searchParams.set('challenge', hash('sha256', verifier, 'base64url'));
    input.complain(`Open this address to sign in, within ten minutes:\n\n  ${address}\n\n`);
    if (!input.isSet('no-browser')) openBrowser(address.href, input.env);
    const result = await Promise.race([
      server.result,
      askForAddress(input, ended.signal),
      delay(WAIT_MS, ended.signal).then(() => ({ problem: 'expired', answer: () => {} })),
    ]);
    if ('code' in result) return result;
    result.answer('You are not signed in. The terminal shows why.');
    throw new CommandError(PROBLEMS[result.problem] ?? PROBLEMS['failed']!, 1);
  } finally {
    ended.abort();
    server.close();
  }
}

/** For a browser on another machine, which cannot reach this one. Never resolves without a terminal. */
async function askForAddress(
  { ask }: CommandInput,
  signal: AbortSignal,
): Promise<SignInResult & { answer: Answer }> {
  let given = ask === null ? '' : await ask(PASTE, signal);
  while (ask !== null && given !== '') {
    const result = readResult(given);
    if (result !== null) return { ...result, answer: () => {} };
    given = await ask('This is not the address that the browser shows, http://127.0.0.1:…\n', signal);
  }
  // No terminal, or the end of its input: the browser may still come.
  return new Promise(() => {});
}

const PASTE =
  'If the browser is on another machine, paste the address here that it shows after the sign-in:\n';

function explainNoProvider(base: URL): string {
  return `${base.href} has no identity provider: set operators.issuer there, or use a personal token in ERP_PROXY_ADMIN_TOKEN (docs/operators.md).`;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  denied: 'The sign-in was cancelled, or the identity provider refused it. Run erp-proxy login again.',
  no_role: 'Your account has no role at this proxy. Ask an administrator for one (operators.rules).',
  failed: 'The sign-in failed; the log of the proxy has the cause. Run erp-proxy login again.',
  expired: 'The sign-in took too long, or was for another browser. Run erp-proxy login again.',
  away: 'The identity provider does not answer. Try again later.',
};
