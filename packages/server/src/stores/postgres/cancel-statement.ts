/**
 * Asks a PostgreSQL server to cancel the statement of a connection. The request uses a separate connection, which needs
 * no password and does not count towards a limit of the server. A backend that waits for a standby then ends its
 * commit: the commit is made, but not confirmed by the standby.
 */

import { waitFor } from '@erp-proxy/async/tasks';
import pg from 'pg';

/** Members of the driver that its types omit. */
interface RawConnection extends pg.Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

interface BackendKey {
  processID: number;
  secretKey: number;
}

const TIMEOUT_MS = 2000;

/**
 * Resolves when the server has received the request, or cannot be reached. The result appears on the connection itself.
 */
export async function cancelStatement(config: pg.ClientConfig, client: pg.ClientBase): Promise<void> {
  const { processID, secretKey } = client as unknown as BackendKey;
  const connection = new pg.Connection(config) as RawConnection;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const send = () => connection.cancel(processID, secretKey);
  connection.on('connect', () => (config.ssl ? connection.requestSsl() : send()));
  connection.on('sslconnect', send);
  connection.on('error', () => resolve());
  connection.on('end', () => resolve());
  connect(connection, config);
  await waitFor(ended, { timeoutMs: TIMEOUT_MS });
  connection.stream.destroy();
}

function connect(connection: RawConnection, { host = '', port = 0 }: pg.ClientConfig): void {
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
