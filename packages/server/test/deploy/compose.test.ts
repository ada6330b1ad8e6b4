/** Tests the compose file, as far as possible without a container engine. */

import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { type Parsed, readImageVariables, readText, readYaml, takeSettings } from './deploy-files.ts';

const compose = readYaml('deploy/compose.yaml');
const services: [string, Parsed][] = Object.entries(compose.services);

test.each(services)('%s has minimal privileges', (_name, service) => {
  expect(service).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
  });
  expect(service).not.toHaveProperty('privileged');
  expect(service.deploy.resources.limits).toMatchObject({
    memory: expect.any(String),
    pids: expect.any(Number),
  });
  expect(service.logging.options['max-size']).toMatch(/^\d+m$/);
  // The image of the proxy sets its user itself.
  if (service.build === undefined) expect(service.user).toMatch(/^(?!root|0)/);
});

test.each(services)('%s uses defined networks, volumes, secrets and services', (_name, service) => {
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

test.each(services)('%s has an image with a version, or is built here', (_name, { image, build }) => {
  if (build === undefined) expect(image).toMatch(/^[\w/]+:\d[\w.-]+$/);
  else {
    expect(image).toBe(`erp-proxy:${JSON.parse(readText('packages/server/package.json')).version}`);
    expect(readText(`deploy/${build.context}/${build.dockerfile}`)).toContain('ENTRYPOINT');
  }
});

test('the settings of the proxy are valid, with the secrets of docs/deployment.md', () => {
  const { environment, ports, stop_grace_period } = compose.services.proxy;
  // A container also has the variables of its image.
  const env = {
    ...readImageVariables(),
    ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)])),
  };
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

test('the proxy trusts only a reverse proxy on this machine for the address of a client', () => {
  const { environment, networks } = compose.services.proxy;
  const [{ gateway }] = compose.networks[networks[0]].ipam.config;
  expect(isIP(gateway)).toBe(4);
  expect(environment.ERP_PROXY_HTTP_TRUST_PROXY).toBe(gateway);
});

test('the volume of the image is not created if PostgreSQL is the store', () => {
  const { tmpfs } = compose.services.proxy;
  expect(tmpfs).toContain(/^VOLUME (\S+)$/m.exec(readText('deploy/Dockerfile'))?.[1]);
});

test('only the proxy reaches the store and Redis', () => {
  expect(compose.networks.inside.internal).toBe(true);
  for (const [name, { networks, ports }] of services) {
    if (name !== 'proxy') expect([networks, ports], name).toEqual([['inside'], undefined]);
  }
});
