/** All commands, in the order of the help. */
import { applyCommand } from './apply.ts';
import {
  approvalsApproveCommand,
  approvalsListCommand,
  approvalsRefuseCommand,
  approvalsShowCommand,
} from './approvals.ts';
import { auditExportCommand, auditListCommand, auditVerifyCommand } from './audit.ts';
import { callCommand } from './call.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { configCheckCommand, configPrintCommand } from './config.ts';
import { configExportCommand } from './config-export.ts';
import { consoleCommand } from './console.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export.ts';
import {
  instancesAddCommand,
  instancesListCommand,
  instancesRemoveCommand,
  instancesRotateKeyCommand,
  instancesShowCommand,
  instancesUpdateCommand,
} from './instances.ts';
import {
  keysCreateCommand,
  keysExplainCommand,
  keysListCommand,
  keysRevokeCommand,
  keysRotateCommand,
  keysShowCommand,
  keysUpdateCommand,
} from './keys.ts';
import { mcpCommand } from './mcp.ts';
import { migrateCommand } from './migrate.ts';
import { sandboxCommand } from './sandbox.ts';
import { serveCommand } from './serve.ts';
import { statusCommand, topCommand } from './status.ts';
import { storeCopyCommand } from './store-copy.ts';
import { subjectsAllowCommand, subjectsDenyCommand, subjectsListCommand } from './subjects.ts';
import {
  subscriptionsAddCommand,
  subscriptionsDeliveriesCommand,
  subscriptionsListCommand,
  subscriptionsPauseCommand,
  subscriptionsPingCommand,
  subscriptionsRemoveCommand,
  subscriptionsReplayCommand,
  subscriptionsResumeCommand,
  subscriptionsRetryCommand,
  subscriptionsRotateSecretCommand,
  subscriptionsShowCommand,
  subscriptionsUpdateCommand,
} from './subscriptions.ts';
import { typesCommand } from './types.ts';
import { vaultKeyCommand, vaultResealCommand } from './vault.ts';

export const COMMANDS: readonly Command[] = [
  serveCommand,
  consoleCommand,
  demoCommand,
  sandboxCommand,
  callCommand,
  exportCommand,
  mcpCommand,
  typesCommand,
  doctorCommand,
  statusCommand,
  topCommand,
  keysCreateCommand,
  keysListCommand,
  keysShowCommand,
  keysUpdateCommand,
  keysRevokeCommand,
  keysRotateCommand,
  keysExplainCommand,
  approvalsListCommand,
  approvalsShowCommand,
  approvalsApproveCommand,
  approvalsRefuseCommand,
  subjectsDenyCommand,
  subjectsAllowCommand,
  subjectsListCommand,
  instancesAddCommand,
  instancesListCommand,
  instancesShowCommand,
  instancesUpdateCommand,
  instancesRemoveCommand,
  instancesRotateKeyCommand,
  subscriptionsAddCommand,
  subscriptionsListCommand,
  subscriptionsShowCommand,
  subscriptionsUpdateCommand,
  subscriptionsPauseCommand,
  subscriptionsResumeCommand,
  subscriptionsRetryCommand,
  subscriptionsPingCommand,
  subscriptionsReplayCommand,
  subscriptionsDeliveriesCommand,
  subscriptionsRotateSecretCommand,
  subscriptionsRemoveCommand,
  vaultKeyCommand,
  vaultResealCommand,
  auditListCommand,
  auditExportCommand,
  auditVerifyCommand,
  applyCommand,
  configExportCommand,
  migrateCommand,
  storeCopyCommand,
  configPrintCommand,
  configCheckCommand,
  completionCommand,
];

/** The command with which the words begin. */
export function findCommand(given: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name.split(' ').every((word, index) => given[index] === word));
}
