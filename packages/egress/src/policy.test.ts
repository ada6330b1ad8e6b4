/** Tests that policies allow and deny origins and addresses. */
import { describe, expect, test } from 'vitest';
import { checkAddress, checkOrigin, parseBaseUrl, parseEgressPolicy } from './policy.ts';

/** Checks the origin, then `address`, as for a name that resolves to it. */
function isAllowed(allow: string[], origin: string, address?: string): boolean {
  const { policy, errors } = parseEgressPolicy(allow);
  expect(errors).toEqual([]);
  const target = checkOrigin(policy, origin);
  if ('rule' in target) return false;
  return checkAddress(policy, target, address ?? target.host) === null;
}

describe('without entries', () => {
  test('allows public addresses over https, on any port that is not blocked', () => {
    expect(isAllowed([], 'https://erp.example', '93.184.216.34')).toBe(true);
    expect(isAllowed([], 'https://erp.example:8069', '2606:4700:4700::1111')).toBe(true);
    expect(isAllowed([], 'https://1.1.1.1')).toBe(true);
    expect(isAllowed([], 'https://[2606:4700:4700::1111]')).toBe(true);
  });

  test.each([
    ['http://erp.example', '93.184.216.34'],
    ['http://1.1.1.1', '1.1.1.1'],
    ['https://erp.example', '10.0.0.1'],
    ['https://erp.example', '127.0.0.1'],
    ['https://erp.example', 'not an address'],
    ['https://erp.example:25', '93.184.216.34'],
    ['https://erp.example:0', '93.184.216.34'],
    ['ftp://erp.example', '93.184.216.34'],
    ['https://erp.example/', '93.184.216.34'],
    ['https://ERP.example', '93.184.216.34'],
    ['https://user@erp.example', '93.184.216.34'],
    ['https://erp.example:443', '93.184.216.34'],
    ['null', '93.184.216.34'],
    ['', '93.184.216.34'],
  ])('refuses %s at %s', (origin, address) => {
    expect(isAllowed([], origin, address)).toBe(false);
  });
});

describe('an origin entry', () => {
  test('allows its scheme, host and port together', () => {
    expect(isAllowed(['http://localhost:8069'], 'http://localhost:8069', '127.0.0.1')).toBe(true);
    expect(isAllowed(['http://localhost:8069'], 'http://localhost.:8069', '127.0.0.1')).toBe(true);
    expect(isAllowed(['HTTP://LocalHost:80/'], 'http://localhost', '::1')).toBe(true);
    expect(isAllowed(['http://[::1]:8069'], 'http://[::1]:8069')).toBe(true);
  });

  test.each([
    'http://localhost:8070',
    'https://localhost:8069',
    'http://localhost',
    'http://a.localhost:8069',
  ])('does not allow %s', (origin) => {
    expect(isAllowed(['http://localhost:8069'], origin, '127.0.0.1')).toBe(false);
  });

  test('allows plain http to a public address, and a blocked port that it names', () => {
    expect(isAllowed(['http://erp.example:8069'], 'http://erp.example:8069', '93.184.216.34')).toBe(true);
    expect(isAllowed(['http://erp.example:6000'], 'http://erp.example:6000', '93.184.216.34')).toBe(true);
  });
});

describe('a host entry', () => {
  test.each(['127.0.0.1', '10.0.0.1', 'fd12::1', '100.64.0.1', '1.1.1.1', '::ffff:10.0.0.1'])(
    'allows any scheme and port of the host at %s',
    (address) => {
      expect(isAllowed(['erp.internal'], 'http://erp.internal:8069', address)).toBe(true);
      expect(isAllowed(['erp.internal'], 'https://erp.internal', address)).toBe(true);
      expect(isAllowed(['ERP.internal.'], 'http://erp.internal', address)).toBe(true);
    },
  );

  test.each([
    '169.254.1.1',
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '2002:7f00:1::',
    '64:ff9b::10.0.0.1',
  ])('does not allow the name to resolve to %s', (address) => {
    expect(isAllowed(['erp.internal', 'http://erp.internal:8069'], 'http://erp.internal:8069', address)).toBe(
      false,
    );
  });

  test('does not allow blocked ports, but a host:port entry allows the port that it names', () => {
    expect(isAllowed(['erp.internal'], 'http://erp.internal:25', '10.0.0.1')).toBe(false);
    expect(isAllowed(['erp.internal:25'], 'http://erp.internal:25', '10.0.0.1')).toBe(true);
    expect(isAllowed(['erp.internal:8069'], 'http://erp.internal:8070', '10.0.0.1')).toBe(false);
    expect(isAllowed(['[::1]:8069'], 'http://[::1]:8069')).toBe(true);
  });

  test('covers neither subdomains nor parent domains', () => {
    expect(isAllowed(['erp.internal'], 'http://a.erp.internal', '10.0.0.1')).toBe(false);
    expect(isAllowed(['erp.internal'], 'http://internal', '10.0.0.1')).toBe(false);
  });
});

describe('a CIDR or address entry', () => {
  test('allows any scheme to addresses in the block, also by name', () => {
    expect(isAllowed(['10.0.0.0/8'], 'http://10.1.2.3:8069')).toBe(true);
    expect(isAllowed(['10.0.0.0/8'], 'http://erp.example', '10.1.2.3')).toBe(true);
    expect(isAllowed(['10.0.0.0/8'], 'http://[::ffff:a01:203]')).toBe(true);
    expect(isAllowed(['127.0.0.1'], 'http://127.0.0.1')).toBe(true);
    expect(isAllowed(['[fd00::1]'], 'http://[fd00::1]:8069')).toBe(true);
    expect(isAllowed(['169.254.169.254'], 'http://169.254.169.254')).toBe(true);
  });

  test('allows no address outside the block, and no plain http to public addresses', () => {
    expect(isAllowed(['10.0.0.0/8'], 'http://11.1.2.3')).toBe(false);
    expect(isAllowed(['10.0.0.0/8'], 'http://192.168.0.1')).toBe(false);
    expect(isAllowed(['10.0.0.0/8'], 'http://erp.example', '93.184.216.34')).toBe(false);
    expect(isAllowed(['10.0.0.0/8'], 'http://10.0.0.1:22')).toBe(false);
  });
});

describe('an origin that its trust allows', () => {
  const { policy } = parseEgressPolicy([]);
  const check = (origin: string, address: string) => {
    const target = checkOrigin(policy, origin, true);
    return 'rule' in target ? target : checkAddress(policy, target, address);
  };

  test('may be private, use plain http and a blocked port, like an origin that an entry names', () => {
    expect(check('http://erp.internal:8069', '10.0.0.1')).toBeNull();
    expect(check('http://127.0.0.1:25', '127.0.0.1')).toBeNull();
  });

  test.each([
    ['http://169.254.169.254', '169.254.169.254'],
    ['http://erp.internal', '169.254.169.254'],
    ['http://erp.internal', 'fd00:ec2::254'],
    ['https://erp.internal', 'fe80::1'],
    ['https://erp.internal', '0.0.0.0'],
  ])('is not reached at an address that no ERP server has: %s at %s', (origin, address) => {
    expect(check(origin, address)).toMatchObject({ rule: 'address' });
  });
});

describe('parseEgressPolicy', () => {
  test.each([
    '',
    '*',
    '*.example',
    'erp internal',
    'erp.internal/path',
    'http://erp.internal/path',
    'http://erp.internal/?a=1',
    'http://user@erp.internal',
    'ftp://erp.internal',
    'http://',
    'erp.internal:0',
    'erp.internal:70000',
    'erp.internal:http',
    '10.0.0.1/8',
    '127.1',
    '0x7f.0.0.1',
    'http://169.254.169.254',
    '169.254.169.254:80',
    'fe80::1%eth0',
  ])('reports %j as an error', (entry) => {
    const { errors } = parseEgressPolicy(['erp.example', entry, '10.0.0.0/8']);
    expect(errors).toEqual([{ entry, message: expect.stringMatching(/\w{4}/) }]);
  });

  test('reports every error', () => {
    expect(
      parseEgressPolicy(['10.0.0.1/8', 'ok.example', 'ftp://x']).errors.map(({ entry }) => entry),
    ).toEqual(['10.0.0.1/8', 'ftp://x']);
  });
});

test.each([
  ['https://erp.example.com', 'https://erp.example.com', ''],
  ['https://erp.example.com/', 'https://erp.example.com', ''],
  ['https://erp.example.com//', 'https://erp.example.com', ''],
  ['https://ERP.example.com:443', 'https://erp.example.com', ''],
  ['http://localhost:8069/odoo/prod/', 'http://localhost:8069', '/odoo/prod'],
  ['https://erp.example.com/a/../b', 'https://erp.example.com', '/b'],
  ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', ''],
  ['https://erp.example.com/@shop', 'https://erp.example.com', '/@shop'],
])('reads %s', (text, origin, pathPrefix) => {
  expect(parseBaseUrl(text)).toEqual({ origin, pathPrefix });
});

test.each([
  'erp.example.com',
  'ftp://erp.example.com',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:erp.example.com',
  'https:///erp.example.com',
  'https://',
  'https://user@erp.example.com',
  'https://user:secret@erp.example.com',
  'https://@erp.example.com',
  'https://:@erp.example.com',
  'https://erp.example.com?',
  'https://erp.example.com/?db=prod',
  'https://erp.example.com/#',
  'https://erp.example.com\\@evil.example',
  'https://erp.example.com/\n',
  ' https://erp.example.com',
  'https://erp.exa\tmple.com',
  'https://erp.example.com:99999',
  'https://erp example.com',
])('refuses %j and does not quote it', (text) => {
  const refused = parseBaseUrl(text);
  expect(refused).toEqual({ problem: expect.stringMatching(/^(must|is) /) });
  expect(JSON.stringify(refused)).not.toContain('secret');
});
