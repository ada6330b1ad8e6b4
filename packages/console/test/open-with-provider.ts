/** Opens the console with a real OpenID provider, behind a reverse proxy. */
import { createServer, request } from 'node:http';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { listenOnFreePort } from '../../server/test/listen.ts';
import { type RealProvider, startRealProvider } from '../../server/test/operators/real-provider.ts';
import { describeOperators } from '../../server/test/operators/scripted-provider.ts';
import { openConsole } from './open-console.ts';

/** A reverse proxy, whose address is known before that of the proxy. Removes the prefix of paths. */
async function startFront(prefix: string) {
  const front = { url: '', target: '' };
  const server = createServer((asked, answer) => {
    const { method, headers } = asked;
    const passed = request(
      front.target + (asked.url ?? '').slice(prefix.length),
      { method, headers },
      (given) => {
        answer.writeHead(given.statusCode ?? 502, given.headers);
        given.pipe(answer);
      },
    );
    asked.pipe(passed);
  });
  const port = await listenOnFreePort(closeAfterTest(server));
  front.url = `http://127.0.0.1:${port}${prefix}`;
  return front;
}

export interface WithProvider {
  width?: number;
  hasToken?: boolean;
  /** Further settings, which may depend on the address of the provider. */
  more?: (provider: RealProvider) => Record<string, string>;
}

/** Opens the console below a path of a reverse proxy, with a real OpenID provider for operators. */
export async function openWithProvider(prefix: string, options: WithProvider = {}) {
  const { hasToken = true, width = 1280, more = () => ({}) } = options;
  const front = await startFront(prefix);
  const provider: RealProvider = await startRealProvider(`${front.url}/admin/v1/session/callback`);
  const opened = await openConsole({
    isSignedIn: false,
    width,
    hasToken,
    settings: describeOperators(provider, { 'http.publicUrl': front.url, ...more(provider) }),
  });
  front.target = opened.proxy.url;
  return { ...opened, front, provider };
}
