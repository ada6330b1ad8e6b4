/** `export`: what is there, as the file that `apply` takes. */
import { describeConfiguration, renderConfiguration } from './apply/render.ts';
import { type Command, printJson } from './command.ts';
import { ADMIN_OPTIONS, listAll, useAdmin } from './use-admin.ts';

export const exportCommand: Command = {
  name: 'export',
  arguments: [],
  summary:
    'Print the policies of the active keys, and the instances, as a YAML file for apply. It holds no secret.',
  options: {
    output: {
      type: 'string',
      short: 'o',
      value: 'file',
      description: 'Write it there. Default: standard output.',
    },
    ...ADMIN_OPTIONS,
  },
  run: (input) =>
    useAdmin(input, async (admin) => {
      const { configuration, contradictions } = describeConfiguration(
        await Array.fromAsync(listAll(admin.listKeys, { state: 'active' as const })),
        await Array.fromAsync(listAll(admin.listInstances, {})),
      );
      for (const name of contradictions) {
        input.complain(
          `Left out: keys named ${JSON.stringify(name)} have different policies, and apply goes by the name; give them names of their own.\n`,
        );
      }
      const output = input.option('output');
      if (output !== undefined) await input.writeFile(output, renderConfiguration(configuration));
      else if (input.isSet('json')) printJson(input, configuration);
      else input.print(renderConfiguration(configuration));
      return 0;
    }),
};
