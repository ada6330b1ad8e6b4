/** `config export`: prints policies, instances and subscriptions as a file for `apply`. */
import { describeConfiguration, renderConfiguration } from './apply/render.ts';
import { type Command, printJson } from './command.ts';
import { ADMIN_OPTIONS, listAll, useAdmin } from './use-admin.ts';

export const configExportCommand: Command = {
  name: 'config export',
  summary:
    'Print the policies of active keys, the instances and the subscriptions as a YAML file for apply, without secrets.',
  options: {
    output: { short: 'o', value: 'file', description: 'Write to this file. Default: standard output.' },
    ...ADMIN_OPTIONS,
  },
  run: (input) =>
    useAdmin(input, async (admin) => {
      const { configuration, omitted } = describeConfiguration(
        await Array.fromAsync(listAll(admin.listKeys, { state: 'active' as const })),
        await Array.fromAsync(listAll(admin.listInstances, {})),
        await Array.fromAsync(listAll(admin.listSubscriptions, {})),
      );
      for (const reason of omitted) input.complain(`Left out: ${reason}.\n`);
      const output = input.option('output');
      if (output !== undefined) await input.writeFile(output, renderConfiguration(configuration));
      else if (input.isSet('json')) printJson(input, configuration);
      else input.print(renderConfiguration(configuration));
      return 0;
    }),
};
