/** All commands, in the order of the help. */
import { applyCommand } from './apply.ts';
import { approvalsCommands } from './approvals.ts';
import { auditCommands } from './audit.ts';
import { callCommand } from './call.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { configCommands } from './config.ts';
import { configExportCommand } from './config-export.ts';
import { connectionsCommands } from './connections.ts';
import { consoleCommand } from './console.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { documentCommand } from './document.ts';
import { exportCommand } from './export.ts';
import { fleetCommands } from './fleet.ts';
import { instancesCommands } from './instances.ts';
import { jobsCommands } from './jobs.ts';
import { keysCommands } from './keys.ts';
import { loginCommands } from './login.ts';
import { mcpCommand } from './mcp.ts';
import { migrateCommand } from './migrate.ts';
import { personsCommands } from './persons.ts';
import { sandboxCommand } from './sandbox.ts';
import { serveCommand } from './serve.ts';
import { statusCommands } from './status.ts';
import { storeCopyCommand } from './store-copy.ts';
import { subjectsCommands } from './subjects.ts';
import { subscriptionsCommands } from './subscriptions.ts';
import { tokensCommands } from './tokens.ts';
import { typesCommand } from './types.ts';
import { vaultCommands } from './vault.ts';

export const COMMANDS: readonly Command[] = [
  serveCommand,
  consoleCommand,
  ...loginCommands,
  demoCommand,
  sandboxCommand,
  callCommand,
  exportCommand,
  documentCommand,
  ...fleetCommands,
  mcpCommand,
  typesCommand,
  doctorCommand,
  ...statusCommands,
  ...keysCommands,
  ...approvalsCommands,
  ...jobsCommands,
  ...subjectsCommands,
  ...personsCommands,
  ...tokensCommands,
  ...instancesCommands,
  ...connectionsCommands,
  ...subscriptionsCommands,
  ...vaultCommands,
  ...auditCommands,
  applyCommand,
  configExportCommand,
  migrateCommand,
  storeCopyCommand,
  ...configCommands,
  completionCommand,
];

/** Finds the command whose name begins the given words. */
export function findCommand(given: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name.split(' ').every((word, index) => given[index] === word));
}
