import { ALL_ERRORS, COMPATIBLE_CHANGES, COMPATIBLE_ERRORS, PROXY_ERRORS } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';
import { Denial } from '../terms/denial.ts';
import { type Dialect, OWN_DIALECT } from '../terms/dialect.ts';
import { describeDenial } from './envelope.ts';

const COMPATIBLE: Dialect = { ...OWN_DIALECT, instanceAt: 'odoo_instance', errors: COMPATIBLE_CHANGES };
const types = Object.keys(ALL_ERRORS) as (keyof typeof ALL_ERRORS)[];

describe('a denial', () => {
  test.each(types)('has the code and the status of its row on the routes of the proxy: %s', (type) => {
    const { httpStatus, error } = describeDenial(new Denial(type, 'Say so.'), OWN_DIALECT);
    const row = ALL_ERRORS[type];
    expect([error.code, httpStatus, error.data.type]).toEqual([row.code, row.httpStatus, type]);
  });

  test.each([
    ['policy_denied', -32001, 400],
    ['egress_denied', -32004, 502],
    ['upstream_bad_response', -32005, 500],
    ['approval_required', -32018, 400],
    ['rate_limited', -32012, 429],
    ['overloaded', -32013, 503],
    ['json2_missing', -32006, 200],
    ['json2_call_invalid', -32007, 400],
  ] as const)(
    'has the code and the status of ODXProxy on the compatible routes: %s',
    (type, code, httpStatus) => {
      const described = describeDenial(new Denial(type, 'Say so.'), COMPATIBLE);
      expect(described).toMatchObject({ httpStatus, error: { code, data: { type } } });
    },
  );

  test.each(types)('never has status 403 or code 0 on the compatible routes: %s', (type) => {
    const { httpStatus, error } = describeDenial(new Denial(type, 'Say so.'), COMPATIBLE);
    expect(httpStatus).not.toBe(403);
    expect(error.code).toBeLessThan(0);
  });

  test('names the members of the instance as its caller wrote them', () => {
    const denial = new Denial('egress_denied', 'Check `erp_instance.url`.', { path: 'erp_instance.url' });
    const describeIn = (instanceAt: Dialect['instanceAt']) => {
      const { message, data } = describeDenial(denial, { ...OWN_DIALECT, instanceAt }).error;
      return [message, data.path];
    };
    expect(describeIn('erp_instance')).toEqual(['Check `erp_instance.url`.', 'erp_instance.url']);
    expect(describeIn('odoo_instance')).toEqual(['Check `odoo_instance.url`.', 'odoo_instance.url']);
    expect(describeIn('')).toEqual(['Check `url`.', 'url']);
  });
});

test('the two tables share no type and no code', () => {
  const codes = new Set(Object.values(PROXY_ERRORS).map(({ code }) => code as number));
  for (const [type, { code }] of Object.entries(COMPATIBLE_ERRORS)) {
    expect(type in PROXY_ERRORS).toBe(false);
    expect(codes.has(code)).toBe(false);
  }
});
