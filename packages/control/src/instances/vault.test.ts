import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVault, type Vault, VaultError } from './vault.ts';

const FIXED_KEY = Buffer.alloc(32, 7).toString('base64');
const makeKey = () => randomBytes(32).toString('base64');

function makeVault(masterKey = makeKey(), otherMasterKeys: string[] = []): Vault {
  const vault = createVault({ masterKey, otherMasterKeys });
  if (vault === null) throw new Error('no vault');
  return vault;
}

/** The message of the error that `run` throws. */
function catchMessage(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof VaultError) return error.message;
    throw error;
  }
  throw new Error('it did not refuse');
}

test('there is no vault without a master key', () => {
  expect(createVault({ masterKey: null, otherMasterKeys: [] })).toBeNull();
  expect(createVault({ masterKey: null, otherMasterKeys: [makeKey()] })).toBeNull();
});

test.each(['', 'secret', randomBytes(31).toString('base64'), randomBytes(33).toString('base64')])(
  'refuses a master key that is not 32 bytes long, without repeating it: %j',
  (wrong) => {
    for (const keys of [
      { masterKey: wrong, otherMasterKeys: [] },
      { masterKey: makeKey(), otherMasterKeys: [wrong] },
    ]) {
      const message = catchMessage(() => createVault(keys));
      expect(message).toContain('openssl rand -base64 32');
      if (wrong !== '') expect(message).not.toContain(wrong);
    }
  },
);

describe('a sealed text', () => {
  test('opens to the original text, whatever that is', () => {
    const vault = makeVault();
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (secret, boundTo) => {
        expect(vault.open(vault.seal(secret, boundTo), boundTo)).toBe(secret);
      }),
    );
  });

  test('of an earlier version of the proxy opens', () => {
    const sealed = 'v1.453585b8.oVs-HUS_-aK2XMBW.7k9obSZCSRP_RgdqojSvtUcd-hpjHEpOfXg';
    expect(makeVault(FIXED_KEY).open(sealed, 'here')).toBe('the secret');
  });

  test('names its format and its master key, and reveals nothing else of them', () => {
    const masterKey = makeKey();
    const vault = makeVault(masterKey);
    const sealed = vault.seal('the secret', 'here');
    expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
    expect(sealed.split('.')[1]).toBe(vault.masterKeyId);
    expect(sealed).not.toContain('secret');
    // If the name were a part of the key, it would reveal that part.
    expect(Buffer.from(masterKey, 'base64').toString('hex')).not.toContain(vault.masterKeyId);
  });

  test('differs each time', () => {
    const vault = makeVault();
    const sealed = Array.from({ length: 1_000 }, () => vault.seal('secret', 'here').split('.'));
    expect(new Set(sealed.map(([, , nonce]) => nonce)).size).toBe(1_000);
    expect(new Set(sealed.map(([, , , text]) => text)).size).toBe(1_000);
  });

  test('does not open for another use', () => {
    const vault = makeVault();
    const sealed = vault.seal('secret', 'instance a');
    expect(() => vault.open(sealed, 'instance b')).toThrow(VaultError);
    expect(() => vault.open(sealed, '')).toThrow(VaultError);
  });

  test('does not open if one character was changed', () => {
    const vault = makeVault();
    const sealed = vault.seal('secret', 'here');
    for (let index = 0; index < sealed.length; index++) {
      // The last character has unused bits: another character may decode to the same bytes.
      if (index === sealed.length - 1) continue;
      const other = sealed[index] === 'A' ? 'B' : 'A';
      const changed = sealed.slice(0, index) + other + sealed.slice(index + 1);
      expect(() => vault.open(changed, 'here'), changed).toThrow(VaultError);
    }
  });

  test('does not open if it was cut or extended', () => {
    const vault = makeVault();
    const sealed = vault.seal('secret', 'here');
    for (let length = 0; length < sealed.length; length++) {
      expect(() => vault.open(sealed.slice(0, length), 'here')).toThrow(VaultError);
    }
    for (const wrong of [`${sealed}AAAA`, `${sealed}\n`, ` ${sealed}`, `${sealed}.AAAA`]) {
      expect(() => vault.open(wrong, 'here')).toThrow(VaultError);
    }
  });
});

describe('master keys', () => {
  test('have the same name in every process', () => {
    const vault = makeVault(FIXED_KEY);
    expect(vault.masterKeyId).toBe('453585b8');
    expect(vault.knows('453585b8')).toBe(true);
    expect(vault.knows('00000000')).toBe(false);
  });

  test('that are missing are named in the error', () => {
    const theirs = makeVault();
    const ours = makeVault();
    const message = catchMessage(() => ours.open(theirs.seal('secret', 'here'), 'here'));
    expect(message).toContain(theirs.masterKeyId);
    expect(message).toContain(ours.masterKeyId);
    expect(message).toContain('vault.otherMasterKeys');
  });

  test('other than the current one open what they sealed, but seal nothing', () => {
    const [old, current] = [makeKey(), makeKey()];
    const before = makeVault(old);
    const after = makeVault(current, [old]);
    expect(after.open(before.seal('secret', 'here'), 'here')).toBe('secret');
    expect(after.knows(before.masterKeyId)).toBe(true);
    expect(() => before.open(after.seal('secret', 'here'), 'here')).toThrow(after.masterKeyId);
  });
});

test('a vault and its errors show no secret', () => {
  const [old, current] = [makeKey(), makeKey()];
  const vault = makeVault(current, [old]);
  const sealed = vault.seal('the secret', 'here');
  const shown = [vault, catchError(() => vault.open(sealed, 'elsewhere'))].map((value) =>
    inspect(value, { depth: null, showHidden: true, getters: true }),
  );
  for (const secret of ['the secret', old, current]) expect(shown.join()).not.toContain(secret);
});

function catchError(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
