/** Tests that the SDK of OpenTelemetry is loaded only if traces are on. prom-client loads its small API in any case. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('neither the server nor the commands load the SDK when they start', async () => {
  const program = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({
      resolve(specifier, context, next) {
        if (/@opentelemetry.(sdk|otlp|core|resources)/.test(specifier)) seen.push(specifier);
        return next(specifier, context);
      },
    });
    await import('./app/app.ts');
    await import('./cli/run.ts');
    const before = seen.length;
    await import('@erp-proxy/gateway/traces');
    console.log(before, seen.length > before);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('../../src', import.meta.url)),
  });
  expect(stdout).toBe('0 true\n');
});
