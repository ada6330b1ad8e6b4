/** Servers of Odoo: versions, HTTP statuses, redirects, firewalls, names of databases. */
export { DATABASE_NAME } from './database-name.ts';
export { type Firewall, findFirewall } from './firewall.ts';
export {
  classifyStatus,
  findRedirect,
  isGatewayError,
  isRefusedBeforeRun,
  isRouteMissing,
} from './http-status.ts';
export {
  hasJson2,
  locksNobodyOut,
  type OdooVersion,
  readJsonrpcVersion,
  readJsonVersion,
  readSerie,
  VERSION_BODY,
} from './version.ts';
