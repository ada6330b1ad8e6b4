/** `config …`: what the settings are, and whether they are right. Faults are reported before a command runs. */

import { explainPolicyFaults } from '../app.ts';
import { printSettings } from '../config/print.ts';
import { parseEgressPolicy } from '../egress/policy.ts';
import { type Command, JSON_OPTION, printJson } from './command.ts';

export const configPrintCommand: Command = {
  name: 'config print',
  arguments: [],
  summary: 'Print every setting, its value and where it comes from. Secrets are masked.',
  options: { json: JSON_OPTION },
  async run({ settings, sources, print, isSet }) {
    print(printSettings(settings, sources, isSet('json') ? 'json' : 'text'));
    return 0;
  },
};

export const configCheckCommand: Command = {
  name: 'config check',
  arguments: [],
  summary: 'Check the settings and report every fault at once; nothing is started.',
  options: { json: JSON_OPTION },
  async run(input) {
    const texts = explainPolicyFaults(parseEgressPolicy(input.settings.egress.allow).faults);
    if (input.isSet('json')) printJson(input, { ok: texts.length === 0, faults: texts });
    else if (texts.length === 0) input.print('The settings are right.\n');
    if (!input.isSet('json')) for (const text of texts) input.complain(`${text}\n`);
    return texts.length === 0 ? 0 : 2;
  },
};
