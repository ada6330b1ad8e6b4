/** `doctor`: checks step by step whether the proxy can work with an Odoo server, and says what to do where it cannot. */
import { parseBaseUrl } from '../egress/base-url.ts';
import { createEgressDispatcher, type EgressDispatcher, type EgressFailure } from '../egress/dispatcher.ts';
import { parseEgressPolicy } from '../egress/policy.ts';
import { buildExecuteKw } from '../odoo/jsonrpc.ts';
import { explainPolicyFaults } from '../services.ts';
import { type Command, CommandError, type CommandInput, JSON_OPTION, printJson } from './command.ts';
import { postJson } from './post.ts';

/** One check: what was looked at, and what was found. */
interface Check {
  name: 'url' | 'egress' | 'dns' | 'connection' | 'tls' | 'odoo' | 'version' | 'credentials';
  state: 'ok' | 'failed' | 'skipped';
  text: string;
}

export const doctorCommand: Command = {
  name: 'doctor',
  arguments: ['<odoo-url>'],
  summary:
    'Check an Odoo server: address, egress rules, DNS, connection, TLS, version and, where given, credentials.',
  options: {
    db: { type: 'string', value: 'name', description: 'Database, to check the credentials.' },
    'user-id': { type: 'string', value: 'number', description: "The user's number in Odoo." },
    'api-key-file': {
      type: 'string',
      value: 'file',
      description: "A file with the user's API key in it; - for standard input.",
    },
    json: JSON_OPTION,
  },
  async run(input) {
    const credentials = await readCredentials(input);
    const checks = await examine(input, credentials);
    const isFine = checks.every((check) => check.state !== 'failed');
    if (input.isSet('json')) printJson(input, { ok: isFine, checks });
    else
      for (const { state, name, text } of checks) input.print(`${SIGNS[state]} ${name.padEnd(11)} ${text}\n`);
    return isFine ? 0 : 1;
  },
};

const SIGNS = { ok: 'ok     ', failed: 'FAILED ', skipped: '-      ' };

interface Credentials {
  db: string;
  userId: number;
  apiKey: string;
}

async function readCredentials({ option, readInput }: CommandInput): Promise<Credentials | null> {
  const db = option('db');
  const userId = option('user-id');
  const file = option('api-key-file');
  if (db === undefined && userId === undefined && file === undefined) return null;
  if (db === undefined || userId === undefined || file === undefined || !/^[1-9]\d{0,9}$/.test(userId)) {
    throw new CommandError(
      'To check credentials give --db, --user-id (a positive number) and --api-key-file together.',
    );
  }
  return { db, userId: Number(userId), apiKey: (await readInput(file)).toString().trim() };
}

async function examine(input: CommandInput, credentials: Credentials | null): Promise<Check[]> {
  const { settings } = input;
  const base = parseBaseUrl(input.arguments[0] as string);
  if ('fault' in base) return [{ name: 'url', state: 'failed', text: `The address ${base.fault}.` }];
  const checks: Check[] = [{ name: 'url', state: 'ok', text: base.origin + base.pathPrefix }];
  const { policy, faults } = parseEgressPolicy(settings.egress.allow);
  if (faults.length > 0) throw new CommandError(explainPolicyFaults(faults).join('\n'));
  const egress = createEgressDispatcher({
    allow: policy,
    connectTimeoutMs: settings.upstream.connectTimeoutMs,
    firstByteTimeoutMs: settings.upstream.firstByteTimeoutMs,
  });
  const ask = (body: Uint8Array | string) =>
    postJson(
      egress,
      new URL(`${base.pathPrefix}/jsonrpc`, base.origin),
      body,
      credentials ? { 'x-odoo-database': credentials.db } : {},
      {
        timeoutMs: settings.upstream.timeoutMs,
        bytesMax: settings.upstream.answerBytesMax,
      },
    );
  try {
    checks.push(...(await checkServer(egress, base.origin, settings.egress.allow, ask)));
    if (checks.some((check) => check.state === 'failed')) return checks;
    checks.push(await checkCredentials(credentials, ask));
    return checks;
  } finally {
    await egress.close();
  }
}

type Ask = (body: Uint8Array | string) => ReturnType<typeof postJson>;

const VERSION_REQUEST = JSON.stringify({
  jsonrpc: '2.0',
  method: 'call',
  params: { service: 'common', method: 'version', args: [] },
  id: 1,
});

async function checkServer(
  egress: EgressDispatcher,
  origin: string,
  allow: readonly string[],
  ask: Ask,
): Promise<Check[]> {
  const denied = egress.judge(origin);
  if (denied !== null)
    return [
      explainFailure({ ok: false, reason: 'denied', sent: false, detail: denied.detail }, origin, allow),
    ];
  const answer = await ask(VERSION_REQUEST);
  if (!answer.ok) return [...passedBefore(answer, origin), explainFailure(answer, origin, allow)];
  const checks = passedBefore(null, origin);
  const version = readResult(answer.body);
  if (answer.status !== 200 || version === null || typeof version['server_serie'] !== 'string') {
    const text = `HTTP ${answer.status}, but not Odoo's /jsonrpc: check the address and its path prefix.`;
    return [...checks, { name: 'odoo', state: 'failed', text }];
  }
  checks.push({ name: 'odoo', state: 'ok', text: '/jsonrpc answers' });
  const text = `Odoo ${version['server_serie']} (${String(version['server_version'])})`;
  checks.push({ name: 'version', state: 'ok', text });
  return checks;
}

/** The checks that must have passed for a call to get as far as it did. */
function passedBefore(failure: EgressFailure | null, origin: string): Check[] {
  const isSecure = origin.startsWith('https:');
  const order: Check[] = [
    { name: 'dns', state: 'ok', text: 'the host has an address' },
    { name: 'egress', state: 'ok', text: 'the address is allowed' },
    { name: 'connection', state: 'ok', text: 'the server takes connections' },
    isSecure
      ? { name: 'tls', state: 'ok', text: 'the certificate is valid' }
      : { name: 'tls', state: 'skipped', text: 'plain http: keys travel unencrypted' },
  ];
  if (failure === null) return order;
  const passed = { unresolved: 0, denied: 1, refused: 2, connect_timeout: 2, tls: 3 } as const;
  return order.slice(
    0,
    failure.reason in passed ? passed[failure.reason as keyof typeof passed] : order.length,
  );
}

function explainFailure({ reason, detail }: EgressFailure, origin: string, allow: readonly string[]): Check {
  const fail = (name: Check['name'], text: string): Check => ({ name, state: 'failed', text });
  switch (reason) {
    case 'denied':
      return fail('egress', detail + suggestEntry(origin, allow));
    case 'unresolved':
      return fail('dns', `the host has no address (${detail}); check its spelling`);
    case 'refused':
      return fail('connection', `refused (${detail}); check host and port, and that Odoo runs`);
    case 'connect_timeout':
      return fail(
        'connection',
        `not made in time (${detail}); check firewalls, or raise upstream.connectTimeoutMs`,
      );
    case 'tls':
      return fail('tls', `${detail}; check the certificate, or whether the server speaks plain http`);
    default:
      return fail('odoo', `no answer (${detail})`);
  }
}

/** Nothing where naming the origin is not enough: of a cloud's metadata, say, the address itself must be named. */
function suggestEntry(origin: string, allow: readonly string[]): string {
  const helps = !allow.includes(origin) && parseEgressPolicy([origin]).faults.length === 0;
  return helps ? `. Where you trust it: --egress.allow ${origin}` : '';
}

async function checkCredentials(credentials: Credentials | null, ask: Ask): Promise<Check> {
  if (credentials === null) {
    return {
      name: 'credentials',
      state: 'skipped',
      text: 'give --db, --user-id and --api-key-file to check them',
    };
  }
  const answer = await ask(
    buildExecuteKw({
      ...credentials,
      model: 'res.users',
      method: 'context_get',
      params: Buffer.from('[]'),
      keyword: Buffer.from('{}'),
    }),
  );
  if (answer.ok && readResult(answer.body) !== null) {
    return {
      name: 'credentials',
      state: 'ok',
      text: `user ${credentials.userId} of ${credentials.db} is accepted`,
    };
  }
  return {
    name: 'credentials',
    state: 'failed',
    text: 'Odoo does not accept them: check db, user id and API key (they belong to one user of one database)',
  };
}

function readResult(body: Buffer): Record<string, unknown> | null {
  try {
    const { result } = JSON.parse(body.toString()) as { result?: unknown };
    return typeof result === 'object' && result !== null ? (result as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
