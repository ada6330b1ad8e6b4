import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordedJson2 } from '../../test/recorded-protocols.ts';
import { buildDocPageRequest, buildJson2Request, isApiKeyShaped } from './json2-request.ts';

const KEY = '5f1d0c'.repeat(7).slice(0, 40);
const CALL = { pathPrefix: '', db: 'shop', apiKey: KEY, model: 'res.partner', method: 'read' };

describe('a request to /json/2', () => {
  test('has model and method in its path, key and database in its headers', () => {
    expect(buildJson2Request(CALL)).toStrictEqual({
      path: '/json/2/res.partner/read',
      headers: {
        authorization: `bearer ${KEY}`,
        'x-odoo-database': 'shop',
        'content-type': 'application/json',
      },
    });
    expect(buildJson2Request({ ...CALL, pathPrefix: '/erp/a' })).toMatchObject({
      path: '/erp/a/json/2/res.partner/read',
    });
  });

  test('has the path that was recorded for the same model and method', () => {
    const recorded = recordedJson2.find(({ name }) => name === 'sale-order-action-confirm')!;
    expect(buildJson2Request({ ...CALL, model: 'sale.order', method: 'action_confirm' })).toMatchObject({
      path: recorded.path,
    });
  });

  test.each(['..', '.', '...', '', 'a/b', 'a?b', 'a#b', 'a%2e', 'a b', 'é', 'a\n'])(
    'is not built for the model or method %j',
    (name) => {
      expect(buildJson2Request({ ...CALL, model: name })).toHaveProperty('unmappable');
      expect(buildJson2Request({ ...CALL, method: name })).toHaveProperty('unmappable');
      expect(buildDocPageRequest({ ...CALL, model: name })).toHaveProperty('unmappable');
    },
  );

  test.each(['', 'a b', 'a\r\nx-y: z', 'é', 'a\u0000', 'a\t', '\u{1f600}'])(
    'is not built with the key or database %j, and does not repeat it',
    (text) => {
      for (const part of [{ apiKey: text }, { db: text }]) {
        const request = buildJson2Request({ ...CALL, ...part });
        expect(request).toHaveProperty('unmappable');
        if (text !== '') expect(JSON.stringify(request)).not.toContain(JSON.stringify(text).slice(1, -1));
      }
    },
  );

  test('has one header line for any key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (apiKey) => {
        const request = buildJson2Request({ ...CALL, apiKey });
        if ('headers' in request) expect(request.headers['authorization']).toMatch(/^bearer [!-~]+$/);
      }),
    );
  });
});

test('for a doc page names the model, with the same credentials and no content type', () => {
  expect(buildDocPageRequest({ ...CALL, pathPrefix: '/erp' })).toStrictEqual({
    path: '/erp/doc-bearer/res.partner.json',
    headers: { authorization: `bearer ${KEY}`, 'x-odoo-database': 'shop' },
  });
});

test('a password does not look like an API key of Odoo', () => {
  expect(isApiKeyShaped(KEY)).toBe(true);
  for (const text of ['admin', '', KEY.slice(1), `${KEY}0`, KEY.toUpperCase(), `${KEY}\n`])
    expect(isApiKeyShaped(text), text).toBe(false);
});
