/** `demo`: runs a sandbox Odoo and the proxy, and shows the request and the answer of one real call. */
import { randomBytes } from 'node:crypto';
import { EXECUTE_PATH, KEY_HEADER, type Policy } from '@erp-proxy/contract';
import { createLogger } from '@erp-proxy/observe/log';
import { StartError } from '@erp-proxy/observe/start-error';
import type { Sandbox } from '@erp-proxy/sandbox';
import type { App } from '../app/app.ts';
import type { Command, CommandInput } from './command.ts';
import { createDispatcherTo, postJson } from './post.ts';
import { makeLocalUrl } from './proxy-access.ts';
import { describeLink, makeSignInLink } from './sign-in-link.ts';

export const demoCommand: Command = {
  name: 'demo',
  summary: 'Run a sandbox Odoo and the proxy, and show one real call.',
  options: { once: { description: 'Exit after the call, with status 0 if it succeeded.' } },
  async run({ settings, version, print, complain, isSet, isTerminal, untilStopped }) {
    const isOnce = isSet('once');
    const stopped = isOnce ? null : untilStopped();
    // Loaded here, so that other commands start faster.
    const { startSandbox } = await import('@erp-proxy/sandbox');
    const sandbox = await startSandbox({ version: 18 });
    const token = settings.admin.token ?? randomBytes(32).toString('base64url');
    const { app, url } = await startProxy({ settings, version, token }, sandbox.url, isOnce);
    try {
      const { key } = await app.keys.create({ name: 'demo' });
      const call = {
        id: 1,
        action: 'search_read',
        model_id: 'res.partner',
        params: [[['is_company', '=', true]]],
        keyword: { fields: ['name', 'email'], limit: 3 },
        erp_instance: {
          url: sandbox.url,
          db: sandbox.db,
          user_id: sandbox.users.admin.userId,
          api_key: sandbox.users.admin.apiKey,
        },
      };
      print(`An Odoo 18 sandbox runs on ${sandbox.url}, erp-proxy on ${url}. One call:\n\n`);
      print(
        `curl -s ${url}${EXECUTE_PATH} \\\n  -H '${KEY_HEADER}: ${key}' \\\n  -H 'content-type: application/json' \\\n`,
      );
      print(`  -d '${JSON.stringify(call)}'\n\n`);
      const egress = createDispatcherTo(url);
      const answer = await postJson(egress, new URL(EXECUTE_PATH, url), JSON.stringify(call), {
        headers: { [KEY_HEADER]: key },
      });
      await egress.close();
      if (!answer.ok) {
        complain(`The proxy did not answer: ${answer.detail}\n`);
        return 1;
      }
      print(`${answer.body}\n\n`);
      if (!isOnce) {
        // Output that does not go to a terminal may be kept in a log, where a sign-in link must not be.
        if (isTerminal && settings.console.enabled) {
          print(`${describeLink(makeSignInLink(token, url).url)}\n`);
        }
        print(`Send calls on the reference page, with a key that works there alone:\n\n`);
        print(`  ${url}/docs#key=${await makePageKey(app, sandbox, url)}\n\n`);
        print('Both keep running: send the call again, or change it. Ctrl-C ends them.\n');
        await stopped;
      }
      return answer.status === 200 && 'result' in JSON.parse(answer.body.toString()) ? 0 : 1;
    } finally {
      await app.stop();
      await sandbox.close();
    }
  },
};

/** The instance in the examples of the reference page. */
const INSTANCE = 'prod';

/** Creates a key for the sandbox only, which the reference page at `page` may use. The key ends with the demo. */
async function makePageKey({ keys, instances }: App, { url, db, users }: Sandbox, page: string) {
  const { userId, apiKey } = users.admin;
  await instances.add({ name: INSTANCE, url, db, user_id: userId, api_key: apiKey });
  const policy: Policy = {
    instances: [INSTANCE],
    models: { '*': ['*'] },
    data: ['export', 'changes', 'files'],
    cors_origins: [page],
  };
  return (await keys.create({ name: 'reference page', policy })).key;
}

/**
 * Starts a proxy on a memory store, on the port of the settings, or on a free port if that one is taken or not needed.
 */
async function startProxy(
  { settings, version, token }: Pick<CommandInput, 'settings' | 'version'> & { token: string },
  sandboxUrl: string,
  isOnce: boolean,
): Promise<{ app: App; url: string }> {
  const start = async (port: number) => {
    const { createApp } = await import('../app/app.ts');
    const app = await createApp({
      settings: {
        ...settings,
        http: { ...settings.http, port },
        store: { url: 'memory:' },
        admin: { ...settings.admin, token },
        vault: {
          ...settings.vault,
          masterKey: settings.vault.masterKey ?? randomBytes(32).toString('base64'),
        },
        egress: { allow: [...settings.egress.allow, sandboxUrl] },
      },
      version,
      logger: createLogger('silent'),
    });
    try {
      const { hostname, port: taken } = new URL(await app.listen());
      return { app, url: makeLocalUrl(hostname.replace(/^\[|\]$/g, ''), taken) };
    } catch (error) {
      await app.stop();
      throw error;
    }
  };
  if (isOnce) return start(0);
  return start(settings.http.port).catch((error: unknown) => {
    if (error instanceof StartError) return start(0);
    throw error;
  });
}
