/** The Helm chart, rendered without Helm: what comes out is what Kubernetes and the program take. */
import { readdirSync } from 'node:fs';
import { Ajv } from 'ajv';
import { validate as validateDeployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment';
import { validate as validateHorizontalPodAutoscaler } from 'kubernetes-models/_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler';
import { validate as validateConfigMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap';
import { validate as validateService } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service';
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
const names = readdirSync(new URL(`../../../../${FOLDER}/templates`, import.meta.url));
const templates = Object.fromEntries(names.map((name) => [name, readText(`${FOLDER}/templates/${name}`)]));

/** Every value differs from its default, and everything is on. */
const EVERYTHING = {
  replicas: 3,
  image: { repository: 'images.example.com/erp-proxy', tag: '1.2.3', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'pull' }],
  fullnameOverride: 'a-name-that-is-longer-than-what-kubernetes-takes-for-the-name-of-anything',
  settings: { workers: 2, egress: { allow: ['10.0.0.0/8'] }, log: { level: 'warn' } },
  secretName: 'keys',
  service: { type: 'LoadBalancer', port: 8080, annotations: { internal: 'true' } },
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

/** The objects that the chart makes, by their kind. */
function render(values: object): Record<string, Parsed> {
  const { name: Name, version: Version, appVersion: AppVersion } = chart;
  const texts = renderTemplates(templates, {
    Values: { ...defaults, ...values },
    Chart: { Name, Version, AppVersion },
    Release: { Name: 'shop', Namespace: 'erp', Service: 'Helm' },
  });
  const objects = Object.entries(texts).filter(([name]) => name.endsWith('.yaml'));
  return Object.fromEntries(
    objects.map(([, text]) => parse(text)).flatMap((it) => (it === null ? [] : [[it.kind, it]])),
  );
}

const SCHEMAS: Record<string, { apiVersion: string; validate: Parsed }> = {
  ConfigMap: { apiVersion: 'v1', validate: validateConfigMap },
  Deployment: { apiVersion: 'apps/v1', validate: validateDeployment },
  HorizontalPodAutoscaler: { apiVersion: 'autoscaling/v2', validate: validateHorizontalPodAutoscaler },
  NetworkPolicy: { apiVersion: 'networking.k8s.io/v1', validate: validateNetworkPolicy },
  PodDisruptionBudget: { apiVersion: 'policy/v1', validate: validatePodDisruptionBudget },
  Service: { apiVersion: 'v1', validate: validateService },
};

/** What the schema of Kubernetes has against an object: wrong values, and members that it does not know. */
function judge(object: Parsed): string[] {
  const { apiVersion, validate } = SCHEMAS[object.kind] ?? expect.unreachable(object.kind);
  expect(object.apiVersion).toBe(apiVersion);
  const unseen = new Set<string>();
  // The schema passes over members that it does not know: it never looks at them.
  validate(watch(object, '', unseen));
  const wrong = (validate.errors ?? []).map(
    ({ instancePath, message, keyword }: Parsed) => `${instancePath}: ${message ?? keyword}`,
  );
  return [...wrong, ...[...unseen].map((path) => `${path}: is unknown`)];
}

/** The same object; `unseen` keeps the paths of the members that nobody has looked at. */
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
      expect(judge(objects[kind])).toEqual([]);
    },
  );

  test('gives the program settings that it takes', () => {
    const secrets: Record<string, string> = {
      'store-url': 'postgres://erp_proxy:secret@db.example.com/erp_proxy',
      'redis-url': 'redis://cache.example.com',
      'keys-hash-secret': 'k'.repeat(64),
      'vault-master-key': `${'A'.repeat(43)}=`,
      'vault-other-master-keys': `${'B'.repeat(43)}=`,
      'admin-token': 't'.repeat(64),
    };
    const env = container.env.map(({ name, valueFrom }: Parsed) => [
      name,
      secrets[valueFrom.secretKeyRef.key] ?? '',
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
    for (const object of Object.values(objects)) expect(object.metadata.name).toMatch(/^[a-z0-9-]{1,63}$/);
  });

  test('asks routes that answer', async () => {
    const proxy = await startProxy();
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    const paths = [...probes.map(({ httpGet }) => httpGet.path), '/metrics'];
    for (const path of paths) expect((await send(`${proxy.url}${path}`)).status, path).toBe(200);
    await proxy.close();
  });

  test('lets the program do no more than it must', () => {
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

test('every value has a part in what the chart makes, and a schema that takes it', () => {
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

test('is for the version of the program', () => {
  expect(chart.appVersion).toBe(JSON.parse(readText('packages/server/package.json')).version);
});

test('other settings make other pods', () => {
  const readChecksum = (settings: object) =>
    render({ settings })['Deployment'].spec.template.metadata.annotations['checksum/settings'];
  expect(readChecksum({ workers: 2 })).not.toBe(readChecksum({ workers: 3 }));
});

test('what the renderer of these tests does not know is refused', () => {
  expect(() => renderTemplates({ 'a.yaml': '{{ lookup "v1" }}' }, {})).toThrow('does not know "lookup"');
  expect(() => renderTemplates({ 'a.yaml': '{{ .Values.replica }}' }, { Values: defaults })).toThrow(
    'there is no value "replica"',
  );
  expect(() => renderTemplates({ 'a.yaml': '{{ if .x }}' }, { x: 1 })).toThrow('an "end" missing');
});

test('a member that Kubernetes does not know shows', () => {
  const { Deployment } = render({ extraVolumeMounts: [{ name: 'ca', mountpath: '/etc/ca' }] });
  expect(judge(Deployment).join('\n')).toContain('/mountpath: is unknown');
});
