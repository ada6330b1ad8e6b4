/** `config …`: prints and checks the settings. Errors are reported before a command runs. */

import { parseEgressPolicy } from '@erp-proxy/egress/policy';
import { parseProviders } from '../app/parse-providers.ts';
import { explainContradictions, explainEgressErrors } from '../config/explain-settings.ts';
import { printSettings } from '../config/print.ts';
import { type Command, type CommandInput, JSON_OPTION, printJson } from './command.ts';

export const configCommands: readonly Command[] = [
  {
    name: 'config print',
    summary: 'Print every setting with its value and source. Secrets are masked.',
    options: { json: JSON_OPTION },
    async run({ settings, sources, print, isSet }) {
      print(printSettings(settings, sources, isSet('json') ? 'json' : 'text'));
      return 0;
    },
  },
  {
    name: 'config check',
    summary: 'Check the settings and report all errors, without starting anything.',
    options: { json: JSON_OPTION },
    async run(input) {
      const { settings } = input;
      const providers = parseProviders(settings);
      const errors = [
        ...explainEgressErrors(parseEgressPolicy(settings.egress.allow).errors),
        ...explainContradictions(settings),
        ...providers.errors,
      ];
      if (!input.isSet('json')) for (const warning of providers.warnings) input.complain(`${warning}\n`);
      reportErrors(errors, input, providers.warnings);
      return errors.length === 0 ? 0 : 2;
    },
    reportErrors,
  },
];

function reportErrors(
  errors: readonly string[],
  input: Pick<CommandInput, 'print' | 'complain' | 'isSet'>,
  warnings: readonly string[] = [],
) {
  if (input.isSet('json')) printJson(input, { ok: errors.length === 0, faults: errors, warnings });
  else if (errors.length === 0) input.print('The settings are right.\n');
  else input.complain(`${errors.join('\n')}\n`);
}
