/** For tests: the administrator who uses the admin service without a request. */
import type { Actor } from '@erp-proxy/admin';

export const TEST_ACTOR: Actor = {
  type: 'command',
  id: 'cli:test@host',
  name: 'test@host',
  role: 'admin',
  instances: null,
  address: null,
  requestId: null,
};
