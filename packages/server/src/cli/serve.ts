/** `serve`: the proxy, until it is told to stop. Prints the first client key once, where the store has none. */
import { setFlagsFromString } from 'node:v8';
import { createApp } from '../app.ts';
import type { Command } from './command.ts';

export const serveCommand: Command = {
  name: 'serve',
  arguments: [],
  summary: 'Run the proxy until SIGTERM or SIGINT; running calls then get their grace time.',
  options: {},
  async run({ settings, print, untilStopped }) {
    // V8 lets 64 MiB of read buffers that nobody needs any more pile up before it looks at them: more than a long result
    // may add. The bound is derived from this flag (4 gives 16 MiB); the heap, which stands already, is not made smaller.
    setFlagsFromString('--scavenger-max-new-space-capacity-mb=4');
    // Before anything else: who reads that we listen may stop us at once.
    const stopped = untilStopped();
    const app = await createApp({ settings });
    const url = await app.listen();
    if (await app.keys.isEmpty()) {
      const { key } = await app.keys.create({ name: 'first key' });
      print(`The first client key, shown this once. Send it in the header x-proxy-api:\n\n  ${key}\n\n`);
    }
    app.logger.info('listening', { url });
    await stopped;
    app.logger.info('stopping');
    await app.stop();
    app.logger.info('stopped');
    return 0;
  },
};
