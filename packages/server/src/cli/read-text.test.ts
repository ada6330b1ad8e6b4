import { expect, test } from 'vitest';
import { applyCommand } from './apply.ts';
import type { CommandInput } from './command.ts';
import { readPolicyFile } from './read-policy.ts';

const NOT_UTF8 = 'file.yaml: the file is not UTF-8; save it in this encoding.';

test('refuses a file for apply in another encoding before anything is read from the store', async () => {
  const bytes = Buffer.from('keys:\n  - name: café\n    policy: null\n', 'latin1');
  const input = { option: () => 'file.yaml', readInput: async () => bytes } as unknown as CommandInput;
  await expect(applyCommand.run(input)).rejects.toThrow(NOT_UTF8);
});

test('refuses a policy in another encoding', () => {
  const bytes = Buffer.from('instances: [café]\nmodels: {res.partner: [read]}\n', 'latin1');
  expect(() => readPolicyFile('file.yaml', bytes)).toThrow(NOT_UTF8);
});
