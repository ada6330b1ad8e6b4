/** Tests the Helm chart, rendered without Helm: Kubernetes and the program accept the result. */
import { readdirSync } from 'node:fs';
import { Ajv } from 'ajv';
import { validate as validateDeployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment';
import { validate as validateHorizontalPodAutoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler';
import { validate as validateConfigMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap';
import { validate as validatePod } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Pod';
import { validate as validateService } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service';
import { validate as validateServiceAccount } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ServiceAccount';
import { validate as validateIngress } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1Ingress';
import { validate as validateNetworkPolicy } from 'kubernetes-models/_schemas/IoK8sApiNetworkingV1NetworkPolicy';
import { validate as validatePodDisruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { send, startProxy } from '../harness.ts';
import { type Parsed, readText, readYaml, takeSettings } from './deploy-files.ts';
import { renderTemplates } from './helm-template.ts';

const FOLDER = 'deploy/helm/erp-proxy';
const chart = readYaml(`${FOLDER}/Chart.yaml`);
const defaults = readYaml(`${FOLDER}/values.yaml`);
const names = readdirSync(new URL(`../../../../${FOLDER}/templates`, import.meta.url), {
  recursive: true,
  encoding: 'utf8',
}).filter((name) => /\.\w+$/.test(name));
const templates = Object.fromEntries(names.map((name) => [name, readText(`${FOLDER}/templates/${name}`)]));

/** Values in which each differs from its default, and every option is on. */
const EVERYTHING = {
  replicas: 3,
  image: {
    repository: 'images.example.com/erp-proxy',
    tag: '1.2.3',
    digest: `sha256:${'0a'.repeat(32)}`,
    pullPolicy: 'Always',
  },
  imagePullSecrets: [{ name: 'pull' }],
  fullnameOverride: 'a-name-that-is-longer-than-what-kubernetes-takes-for-the-name-of-anything',
  serviceAccount: { create: true, name: 'caller', annotations: { role: 'arn' } },
  settings: { workers: 2, egress: { allow: ['10.0.0.0/8'] }, log: { level: 'warn' } },
  secretName: 'keys',
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca/root.pem' }],
  service: { type: 'LoadBalancer', port: 8080, annotations: { internal: 'true' } },
  ingress: {
    enabled: true,
    className: 'nginx',
    annotations: { 'nginx.ingress.kubernetes.io/proxy-buffering': 'off' },
    hosts: [{ host: 'erp.example.com', paths: ['/api', '/docs'] }],
    tls: [{ secretName: 'erp-tls', hosts: ['erp.example.com'] }],
  },
  resources: { limits: { cpu: '2', memory: '2Gi' } },
  drainSeconds: 10,
  terminationGracePeriodSeconds: 60,
  autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 9, targetCPUUtilizationPercentage: 60 },
  podDisruptionBudget: { enabled: true, maxUnavailable: '50%' },
  networkPolicy: {
    enabled: true,
    from: [{ podSelector: { matchLabels: { app: 'shop' } } }],
    egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }],
  },
  serviceMonitor: { enabled: true, interval: '15s', labels: { release: 'prometheus' } },
  podAnnotations: { note: 'text' },
  podLabels: { team: 'erp' },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  extraVolumes: [{ name: 'ca', secret: { secretName: 'ca' } }],
  extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca', readOnly: true }],
};

const EVERYTHING_NAMED_BY_RELEASE = {
  ...EVERYTHING,
  fullnameOverride: '',
  serviceAccount: { create: true, name: '' },
};

/** Merges objects at every depth, like Helm. Null removes a value, which templates then read as nil. */
function mergeValues(own: Parsed, given: Parsed): Parsed {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject(own) || !isObject(given)) return given;
  const merged = { ...own };
  for (const [name, value] of Object.entries(given)) {
    merged[name] = name in own ? mergeValues(own[name], value) : value;
  }
  return merged;
}

/** The objects that the chart makes, by their kind. */
function render(values: object, release = 'shop'): Record<string, Parsed> {
  const { name: Name, version: Version, appVersion: AppVersion } = chart;
  const texts = renderTemplates(templates, {
    Values: mergeValues(defaults, values),
    Chart: { Name, Version, AppVersion },
    Release: { Name: release, Namespace: 'erp', Service: 'Helm' },
  });
  const objects = Object.entries(texts).filter(([name]) => name.endsWith('.yaml'));
  return Object.fromEntries(
    // Helm parses YAML 1.1.
    objects
      .map(([, text]) => parse(text, { version: '1.1' }))
      .flatMap((it) => (it === null ? [] : [[it.kind, it]])),
  );
}

const SCHEMAS: Record<string, { apiVersion: string; validate: Parsed }> = {
  ConfigMap: { apiVersion: 'v1', validate: validateConfigMap },
  Deployment: { apiVersion: 'apps/v1', validate: validateDeployment },
  HorizontalPodAutoscaler: { apiVersion: 'autoscaling/v2', validate: validateHorizontalPodAutoscaler },
  Ingress: { apiVersion: 'networking.k8s.io/v1', validate: validateIngress },
  NetworkPolicy: { apiVersion: 'networking.k8s.io/v1', validate: validateNetworkPolicy },
  Pod: { apiVersion: 'v1', validate: validatePod },
  PodDisruptionBudget: { apiVersion: 'policy/v1', validate: validatePodDisruptionBudget },
  Service: { apiVersion: 'v1', validate: validateService },
  ServiceAccount: { apiVersion: 'v1', validate: validateServiceAccount },
};

/** Errors of an object by the schema of Kubernetes: invalid values and unknown members. */
function check(object: Parsed): string[] {
  const { apiVersion, validate } = SCHEMAS[object.kind] ?? expect.unreachable(object.kind);
  expect(object.apiVersion).toBe(apiVersion);
  const unseen = new Set<string>();
  // The schema ignores unknown members. They are found because it never reads them.
  validate(watch(object, '', unseen));
  const wrong = (validate.errors ?? []).map(
    ({ instancePath, message, keyword }: Parsed) => `${instancePath}: ${message ?? keyword}`,
  );
  return [...wrong, ...[...unseen].map((path) => `${path}: is unknown`)];
}

/** Wraps an object so that `unseen` keeps the paths of members that nothing has read. */
function watch(value: Parsed, path: string, unseen: Set<string>): Parsed {
  if (typeof value !== 'object' || value === null) return value;
  const members = new Map(
    Object.entries(value).map(([name, it]) => [name, watch(it, `${path}/${name}`, unseen)]),
  );
  for (const name of members.keys()) unseen.add(`${path}/${name}`);
  return new Proxy(value, {
    get(target, name) {
      unseen.delete(`${path}/${String(name)}`);
      return members.get(String(name)) ?? Reflect.get(target, name);
    },
  });
}

describe.each([
  ['as it is', {}],
  ['with everything on', EVERYTHING],
])('the chart %s', (_how, values) => {
  const objects = render(values);
  const { spec } = objects['Deployment'];
  const [container] = spec.template.spec.containers;

  test.each(Object.keys(objects).filter((kind) => kind !== 'ServiceMonitor'))(
    'makes a %s as Kubernetes wants it',
    (kind) => {
      expect(check(objects[kind])).toEqual([]);
    },
  );

  test('sets valid settings of the program', () => {
    const secrets: Record<string, string> = {
      'store-url': 'postgres://erp_proxy:secret@db.example.com/erp_proxy',
      'redis-url': 'redis://cache.example.com',
      'keys-hash-secret': 'k'.repeat(64),
      'vault-master-key': `${'A'.repeat(43)}=`,
      'vault-other-master-keys': `${'B'.repeat(43)}=`,
      'admin-token': 't'.repeat(64),
    };
    const env = container.env.map(({ name, value, valueFrom }: Parsed) => [
      name,
      value ?? secrets[valueFrom.secretKeyRef.key] ?? '',
    ]);
    const file = objects['ConfigMap'].data['erp-proxy.yaml'];
    const settings = takeSettings(Object.fromEntries(env), { '/etc/erp-proxy/erp-proxy.yaml': file });
    expect(settings.store.url).toBe(secrets['store-url']);
    expect(settings.workers).toBe('settings' in values ? 2 : 1);
    expect(container.ports).toEqual([{ name: 'http', containerPort: settings.http.port }]);
    const graceSeconds =
      Number(container.lifecycle.preStop.exec.command[1]) + settings.http.shutdownGraceMs / 1000;
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(graceSeconds);
  });

  test('finds its pods by their labels, and their port by its name', () => {
    const { labels } = spec.template.metadata;
    for (const selector of listSelectors(objects)) expect(labels).toMatchObject(selector);
    expect(objects['Service'].spec.ports[0].targetPort).toBe('http');
    for (const object of Object.values(objects))
      expect(object.metadata.name).toMatch(/^[a-z][a-z0-9-]{0,62}$/);
  });

  test('probes existing routes', async () => {
    const proxy = await startProxy();
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    const paths = [...probes.map(({ httpGet }) => httpGet.path), '/metrics'];
    for (const path of paths) expect((await send(`${proxy.url}${path}`)).status, path).toBe(200);
    await proxy.close();
  });

  test('gives the program minimal privileges', () => {
    expect(spec.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(`USER ${spec.template.spec.securityContext.runAsUser}:`).toBe(
      /^USER \d+:/m.exec(readText('deploy/Dockerfile'))?.[0],
    );
  });
});

function listSelectors({ Service, ...others }: Record<string, Parsed>): object[] {
  const more = Object.values(others).map(({ spec }) => (spec?.selector ?? spec?.podSelector)?.matchLabels);
  return [Service.spec.selector, ...more.filter((labels) => labels !== undefined)];
}

test('every value affects the chart and is in its schema', () => {
  const all = Object.values(templates).join('\n');
  expect(Object.keys(defaults).filter((name) => !all.includes(`.Values.${name}`))).toEqual([]);
  expect(Object.keys(EVERYTHING)).toEqual(Object.keys(defaults));
  const validate = new Ajv({ allowUnionTypes: true }).compile(
    JSON.parse(readText(`${FOLDER}/values.schema.json`)),
  );
  for (const values of [defaults, EVERYTHING]) expect(validate(values) ? [] : validate.errors).toEqual([]);
  for (const wrong of [
    { replica: 2 },
    { replicas: 0 },
    { settings: { http: { port: 80 } } },
    { service: { port: 'http' } },
  ]) {
    expect(validate(wrong), JSON.stringify(wrong)).toBe(false);
  }
});

describe('values that', () => {
  test.each([
    ['leave no time to end', { drainSeconds: 25 }, 'terminationGracePeriodSeconds must be more than'],
    [
      'leave running calls no time',
      { settings: { http: { shutdownGraceMs: 25_000 } } },
      'terminationGracePeriodSeconds must be more than',
    ],
    [
      'want more pods at least than at most',
      { autoscaling: { enabled: true, minReplicas: 7 } },
      'autoscaling.minReplicas must not be more than',
    ],
  ])('%s are refused', (_what, values, message) => {
    expect(() => render(values)).toThrow(message);
  });

  test.each([
    ['autoscaling', 'HorizontalPodAutoscaler'],
    ['podDisruptionBudget', 'PodDisruptionBudget'],
    ['ingress', 'Ingress'],
    ['serviceMonitor', 'ServiceMonitor'],
    ['networkPolicy', 'NetworkPolicy'],
    ['podLabels', 'nothing'],
    ['serviceAccount', 'ServiceAccount'],
    ['settings', 'nothing'],
  ])('remove %s leave it out', (name, kind) => {
    const objects = render({ [name]: null });
    expect(objects).not.toHaveProperty(kind);
    expect(check(objects['Deployment'])).toEqual([]);
    expect(objects['Deployment'].spec.replicas).toBe(2);
  });

  test('are large integers stay integers', () => {
    const { Deployment } = render({ terminationGracePeriodSeconds: 2_000_000, drainSeconds: 1_000_000 });
    expect(check(Deployment)).toEqual([]);
    const { terminationGracePeriodSeconds, containers } = Deployment.spec.template.spec;
    expect(terminationGracePeriodSeconds).toBe(2_000_000);
    expect(containers[0].lifecycle.preStop.exec.command).toEqual(['sleep', '1000000']);
  });

  test('repeat a label of the chart do not replace it', () => {
    const own = { 'app.kubernetes.io/name': 'mine', team: 'erp' };
    const { Deployment, ServiceMonitor } = render({
      podLabels: own,
      serviceMonitor: { enabled: true, labels: own },
    });
    for (const { labels } of [Deployment.spec.template.metadata, ServiceMonitor.metadata])
      expect(labels).toMatchObject({ 'app.kubernetes.io/name': 'erp-proxy', team: 'erp' });
  });
});

test.each([
  ['2shops', 'erp-proxy-2shops'],
  ['shop.eu', 'shop-eu'],
  ['Shop', 'shop'],
  [`${'a'.repeat(61)}--b`, 'a'.repeat(61)],
])('objects of the release %s are named %s', (release, name) => {
  const { Pod, ...others } = render(EVERYTHING_NAMED_BY_RELEASE, release);
  for (const object of Object.values(others)) expect(object.metadata.name).toBe(name);
  expect(Pod.metadata.name).toMatch(/^[a-z][a-z0-9-]{0,62}$/);
});

test.each(['123', '1e3', 'true', 'on', 'null'])(
  'the release %s is named by texts everywhere, as the API of Kubernetes demands',
  (release) => {
    const named = { ...EVERYTHING_NAMED_BY_RELEASE, fullnameOverride: release, secretName: release };
    for (const [kind, object] of Object.entries(render(named, release))) {
      if (kind !== 'ServiceMonitor') expect(check(object), kind).toEqual([]);
      expect(typeof object.metadata.name, kind).toBe('string');
      expect(object.metadata.labels?.['app.kubernetes.io/instance'] ?? release).toBe(release);
    }
  },
);

test('a scrape has the job name of the alert rules, whatever the release is called', () => {
  const { ServiceMonitor, Service } = render({ serviceMonitor: { enabled: true } }, '2shops');
  const [, job] = /up\{job="([\w-]+)"\}/.exec(readText('deploy/prometheus/alerts.yaml'))!;
  expect(Service.metadata.labels[ServiceMonitor.spec.jobLabel]).toBe(job);
});

test('the image is named by its digest if there is one, otherwise by its tag', () => {
  const readImage = (image: object) => render({ image })['Deployment'].spec.template.spec.containers[0].image;
  const digest = `sha256:${'0a'.repeat(32)}`;
  expect(readImage({ repository: 'a/b', tag: '1', digest })).toBe(`a/b@${digest}`);
  expect(readImage({ repository: 'a/b', tag: '1' })).toBe('a/b:1');
  expect(readImage({ repository: 'a/b' })).toBe(`a/b:${chart.appVersion}`);
});

test('pods are spread over nodes, unless the values set constraints', () => {
  const [own] = render({})['Deployment'].spec.template.spec.topologySpreadConstraints;
  expect(own).toMatchObject({ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' });
  const given = render(EVERYTHING)['Deployment'].spec.template.spec.topologySpreadConstraints;
  expect(given).toEqual(EVERYTHING.topologySpreadConstraints);
});

test('`helm test` calls the Service, and its pod is not selected by the Service', () => {
  const { Pod, Service } = render({});
  expect(Pod.metadata.annotations['helm.sh/hook']).toBe('test');
  expect(Pod.metadata.labels).toBeUndefined();
  expect(Pod.spec.containers[0].args[0]).toContain(`http://${Service.metadata.name}:80/readyz`);
});

test('has the version of the program', () => {
  expect(chart.appVersion).toBe(JSON.parse(readText('packages/server/package.json')).version);
});

test('changed settings replace the pods', () => {
  const readChecksum = (settings: object) =>
    render({ settings })['Deployment'].spec.template.metadata.annotations['checksum/settings'];
  expect(readChecksum({ workers: 2 })).not.toBe(readChecksum({ workers: 3 }));
});

test('the renderer of these tests refuses unknown syntax', () => {
  expect(() => renderTemplates({ 'a.yaml': '{{ lookup "v1" }}' }, {})).toThrow('does not know "lookup"');
  expect(() => renderTemplates({ 'a.yaml': '{{ .Values.replica }}' }, { Values: defaults })).toThrow(
    'there is no value "replica"',
  );
  expect(() => renderTemplates({ 'a.yaml': '{{ if .x }}' }, { x: 1 })).toThrow('an "end" missing');
});

test('a member that Kubernetes does not know is reported', () => {
  const { Deployment } = render({ extraVolumeMounts: [{ name: 'ca', mountpath: '/etc/ca' }] });
  expect(check(Deployment).join('\n')).toContain('/mountpath: is unknown');
});
