import { describe, expect, test } from 'vitest';
import { loadSettings } from './load.ts';

const load = (env: Record<string, string>) =>
  loadSettings({
    argv: [],
    env,
    cwd: '/srv',
    readFile: () => {
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    },
  });

describe('variables of OpenTelemetry', () => {
  const readOtel = (env: Record<string, string>) => {
    const loaded = load(env);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
    return { ...loaded.settings.otel, source: loaded.sources.get('otel.endpoint') };
  };

  test('set the settings of traces, those for traces before the general ones', () => {
    const general = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
    expect(readOtel(general)).toMatchObject({
      endpoint: 'http://collector:4318/v1/traces',
      source: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    });
    const env = {
      ...general,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/custom',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a,x=1',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_SERVICE_NAME: 'gateway',
      OTEL_RESOURCE_ATTRIBUTES: 'a=1,b=2',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    };
    expect(readOtel(env)).toEqual({
      enabled: true,
      traces: true,
      logs: false,
      metrics: false,
      endpoint: 'http://traces:4318/custom',
      headers: ['authorization=Bearer%20a', 'x=1'],
      protocol: 'http/json',
      compression: 'none',
      timeoutMs: 2000,
      serviceName: 'gateway',
      resourceAttributes: ['a=1', 'b=2'],
      sampler: 'traceidratio',
      sampleRatio: 0.25,
      source: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    });
  });

  test('give way to the variables of this program', () => {
    const env = { ERP_PROXY_OTEL_PROTOCOL: 'http/json', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
    expect(readOtel(env).protocol).toBe('http/json');
  });

  test('turn everything off, and single signals on and off', () => {
    expect(readOtel({ OTEL_SDK_DISABLED: 'true' }).enabled).toBe(false);
    const env = {
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'console',
    };
    expect(readOtel(env)).toMatchObject({ enabled: true, traces: false, logs: true, metrics: false });
  });

  test('are reported by their name if their value is wrong', () => {
    const loaded = load({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(loaded).toMatchObject({
      ok: false,
      errors: [{ message: expect.stringContaining('http/protobuf') }],
    });
  });
});
