/** Every command, in the order of the help. */
import { callCommand } from './call.ts';
import type { Command } from './command.ts';
import { configCheckCommand, configPrintCommand } from './config.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { keysCreateCommand, keysListCommand, keysRevokeCommand } from './keys.ts';
import { sandboxCommand } from './sandbox.ts';
import { serveCommand } from './serve.ts';

export const COMMANDS: readonly Command[] = [
  serveCommand,
  demoCommand,
  sandboxCommand,
  callCommand,
  doctorCommand,
  keysCreateCommand,
  keysListCommand,
  keysRevokeCommand,
  configPrintCommand,
  configCheckCommand,
];
