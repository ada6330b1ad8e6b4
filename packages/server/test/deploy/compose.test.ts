/** The compose file, as far as it can be judged without a container engine. */
import { expect, test } from 'vitest';
import { type Parsed, readText, readYaml, takeSettings } from './deploy-files.ts';

const compose = readYaml('deploy/compose.yaml');
const services: [string, Parsed][] = Object.entries(compose.services);

test.each(services)('%s can do no more than it must', (_name, service) => {
  expect(service).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect(service).not.toHaveProperty('privileged');
  // The proxy's image names its user itself.
  if (service.build === undefined) expect(service.user).toMatch(/^(?!root|0)/);
});

test.each(services)('%s uses networks, volumes, secrets and services that are there', (_name, service) => {
  const { networks = [], secrets = [], volumes = [], depends_on = {} } = service;
  const listNamed = (kind: string) => Object.keys(compose[kind]);
  expect(listNamed('networks')).toEqual(expect.arrayContaining(networks));
  expect(listNamed('secrets')).toEqual(expect.arrayContaining(secrets));
  expect(listNamed('volumes')).toEqual(
    expect.arrayContaining(volumes.map((volume: string) => volume.split(':')[0])),
  );
  for (const name of Object.keys(depends_on)) {
    expect(compose.services[name], name).toHaveProperty('healthcheck.test');
  }
  for (const path of JSON.stringify(service.environment ?? {}).matchAll(/\/run\/secrets\/(\w+)/g)) {
    expect(secrets).toContain(path[1]);
  }
});

test.each(services)('%s has an image of a version, or is built here', (_name, { image, build }) => {
  if (build === undefined) expect(image).toMatch(/^[\w/]+:\d[\w.-]+$/);
  else expect(readText(`deploy/${build.context}/${build.dockerfile}`)).toContain('ENTRYPOINT');
});

test('the proxy takes its settings, with the secrets that docs/deployment.md makes', () => {
  const { environment, ports, stop_grace_period } = compose.services.proxy;
  const env = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)]));
  const storeUrl = 'postgres://erp_proxy:secret@postgres/erp_proxy?sslmode=disable';
  const settings = takeSettings(env, {
    '/run/secrets/store_url': storeUrl,
    '/run/secrets/keys_hash_secret': 'k'.repeat(64),
    '/run/secrets/vault_master_key': `${'A'.repeat(43)}=`,
    '/run/secrets/admin_token': 't'.repeat(64),
  });
  expect(settings.store.url).toBe(storeUrl);
  expect(readText('docs/deployment.md')).toContain('@postgres/erp_proxy?sslmode=disable');
  expect(new URL(settings.redis.url ?? '').hostname in compose.services).toBe(true);
  expect(ports).toEqual([`127.0.0.1:${settings.http.port}:${settings.http.port}`]);
  expect(Number.parseInt(stop_grace_period, 10) * 1000).toBeGreaterThan(settings.http.shutdownGraceMs);
});

test('the store and Redis are reached by the proxy only', () => {
  expect(compose.networks.inside.internal).toBe(true);
  for (const [name, { networks, ports }] of services) {
    if (name !== 'proxy') expect([networks, ports], name).toEqual([['inside'], undefined]);
  }
});
