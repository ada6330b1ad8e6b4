/** Starts one sandbox: an Odoo of the given version on a free port of the loopback interface. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { database, users } from './data/users.ts';
import { answerRequest } from './http/answer-request.ts';
import { readBody } from './http/read-body.ts';
import { writeReply } from './http/write-reply.ts';
import type { JsonObject } from './json/value.ts';
import { type CallListener, Instance, type Requests, type SandboxFile } from './rpc/instance.ts';
import type { SandboxTransaction } from './rpc/sandbox-transaction.ts';
import type { Version } from './versions/personality.ts';
import { pickPersonality } from './versions/pick-personality.ts';

export interface SandboxOptions {
  readonly version?: Version;
  readonly host?: string;
  readonly port?: number;
  /**
   * Delay of the answer to a wrong key, in milliseconds. A real Odoo needs about 330 ms
   * (docs/odoo-facts.md#wrong-key-cost).
   */
  readonly authDelayMs?: number;
  /** true: HTTP/1.1 with persistent connections, like a reverse proxy in front of Odoo. */
  readonly keepAlive?: boolean;
  /**
   * Returns milliseconds since 1970, with fractions for microseconds. Stamps rows and answers, and decides which keys
   * have expired.
   */
  readonly clock?: () => number;
  /**
   * Number of generated records by model, such as `{ 'res.partner': 1_000_000 }`. They follow the records of the
   * company, and take no memory until they are changed.
   */
  readonly records?: Readonly<Record<string, number>>;
  /** When the API keys of both users expire (18 and later); null: never. */
  readonly keysExpireAt?: number | null;
  /** `base.enable_programmatic_api_keys`: the user `demo` may create and revoke keys with calls too (19). */
  readonly programmaticKeys?: boolean;
}

export interface SandboxUser {
  readonly userId: number;
  readonly login: string;
  readonly apiKey: string;
}

export interface Sandbox {
  readonly url: string;
  /** The present version. */
  readonly version: Version;
  readonly db: string;
  readonly users: { readonly admin: SandboxUser; readonly demo: SandboxUser };
  readonly requests: Requests;
  /** Number of rows that searches examined and reads fetched. */
  readonly rowsRead: number;
  /** Number of searches and reads that an index limited, and of those that read a whole table. */
  readonly queries: { readonly byIndex: number; readonly byScan: number };
  /**
   * Restores the initial data and removed fields, rolls open transactions back, and forgets failed logins. Counters and
   * the clock continue.
   */
  readonly reset: () => void;
  /** Replaces the clock: a function as in the options. */
  readonly setClock: (clock: () => number) => void;
  /** Opens a transaction of the administrator that ends when the test says so. Several may be open. */
  readonly begin: (db?: string) => SandboxTransaction;
  /**
   * Changes fields of a row like an SQL statement: no rights, checks or new `write_date`. null deletes the row, an
   * unknown id creates it.
   */
  readonly putRaw: (model: string, id: number, values: JsonObject | null) => void;
  /** Creates an attachment and returns its id. The size alone creates a large file that takes no memory. */
  readonly addFile: (file: SandboxFile) => number;
  /** Removes a field from a model from the next call on, as if a module were uninstalled. */
  readonly removeField: (model: string, field: string) => void;
  /**
   * Sets a function that runs before each call of a method, after authentication: it may change data, or delay the call
   * by returning a promise. null removes it.
   */
  readonly beforeCall: (listener: CallListener | null) => void;
  /**
   * Changes the version from the next request on, on the same port and with the same data. Older versions are possible
   * too.
   */
  readonly upgrade: (version: Version) => void;
  readonly close: () => Promise<void>;
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { version = 18, host = '127.0.0.1', port = 0, keepAlive = false } = options;
  const { authDelayMs = 0, keysExpireAt = null, programmaticKeys = false, records = {} } = options;
  let { clock = Date.now } = options;
  let listener: CallListener | null = null;
  let instance = new Instance(pickPersonality(version), {
    authDelayMs,
    clock: () => clock(),
    keysExpireAt,
    programmaticKeys,
    records,
    beforeCall: (call) => listener?.(call),
  });
  const server = createServer(
    { requireHostHeader: false, maxHeaderSize: 65536 },
    async (request, response) => {
      // A request is answered by the version that received it, even if an upgrade follows.
      const serving = instance;
      serving.requests.total++;
      const body = await readBody(request);
      const { method = 'GET', url = '/', headers } = request;
      const reply = await answerRequest(serving, {
        method,
        url,
        contentType: headers['content-type'],
        authorization: headers.authorization,
        database: headers['x-odoo-database']?.toString(),
        ifNoneMatch: headers['if-none-match'],
        hasLength: Number(headers['content-length'] ?? 0) > 0,
        body,
        address: request.socket.remoteAddress ?? '',
      });
      await writeReply(request, response, reply, { keepAlive, nowMs: clock(), ...serving.personality.wire });
    },
  );
  // Like nginx: longer than the timeout of clients, so that the server does not close connections first.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    get version() {
      return instance.personality.version;
    },
    db: database,
    users,
    requests: instance.requests,
    get rowsRead() {
      return instance.reads.rows;
    },
    get queries() {
      const { byIndex, byScan } = instance.reads;
      return { byIndex, byScan };
    },
    reset: () => instance.reset(),
    setClock: (next) => {
      clock = next;
    },
    begin: (db = database) => {
      instance.openDatabase(db);
      return instance.begin();
    },
    putRaw: (model, id, values) => instance.putRaw(model, id, values),
    addFile: (file) => instance.addFile(file),
    removeField: (model, field) => instance.removeField(model, field),
    beforeCall: (next) => {
      listener = next;
    },
    upgrade: (version) => {
      instance = instance.upgrade(pickPersonality(version));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
