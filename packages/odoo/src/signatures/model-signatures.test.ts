import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findModelSignature, MODEL_SIGNATURES } from './model-signatures.ts';
import { parseSignature } from './signature.ts';
import { findSignature, SIGNATURES } from './signatures.ts';

interface Recorded {
  params: string[];
  ids: boolean;
  private?: boolean;
}

const recorded: Record<string, Record<string, Recorded>> = JSON.parse(
  readFileSync(new URL('../../../sandbox/recordings/signatures-19.0.json', import.meta.url), 'utf8'),
);

/** Methods that only some of the recorded models have. */
const own = Object.entries(recorded).flatMap(([model, methods]) =>
  Object.entries(methods)
    .filter(([method]) => !SIGNATURES.has(method))
    .map(([method, signature]) => ({ name: `${model}/${method}`, model, method, signature })),
);

/** Prints a recorded signature in the notation of the table. */
function print({ params, ids }: Recorded): string {
  const words = params.map((word) => word.replace(/=.*$/, '='));
  return `${ids ? 'ids' : 'model'} (${words.join(', ')})`;
}

/** Methods without a recording, with their source. */
const FROM_SOURCE = [
  'ir.config_parameter/get_param',
  'ir.config_parameter/set_param',
  'res.lang/get_installed',
  'res.users/change_password',
  'res.users/context_get',
  'res.users/get_company_currency_id',
  'res.users/has_group',
  'res.users/has_groups',
  'res.users/preference_change_password',
  'res.users/preference_save',
];

describe('the parameters of the methods of one model', () => {
  test('are known for every recorded method, and otherwise only for methods of base', () => {
    const names = [...own.map(({ name }) => name), ...FROM_SOURCE];
    expect([...MODEL_SIGNATURES.keys()].sort()).toStrictEqual(names.sort());
  });

  test.each(own)('are those recorded for $name', ({ model, method, signature }) => {
    expect(signature.private).not.toBe(true);
    expect(findModelSignature(model, method)).toStrictEqual(parseSignature(print(signature)));
  });

  test('are not used for other models', () => {
    for (const name of MODEL_SIGNATURES.keys()) {
      const [model, method] = name.split('/') as [string, string];
      expect(findSignature(model, method)).toBeUndefined();
    }
  });
});
