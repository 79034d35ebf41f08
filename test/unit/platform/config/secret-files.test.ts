import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Environment, loadConfig } from '../../../../src/config.ts';
import { listSecretValues, listSettings } from '../../../../src/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'oracle-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function file(content: string): string {
  const path = join(folder, `secret-${files++}`);
  writeFileSync(path, content);
  return path;
}

function messageOf(environment: Environment): string {
  try {
    loadConfig(environment);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the settings are taken');
}

const URI = 'mongodb://user:pass@h1/oracle';

describe('a secret from a file', () => {
  it.each([
    ['without a newline', URI],
    ['with its last newline', `${URI}\n`],
    ['with a newline of Windows', `${URI}\r\n`],
  ])('is taken %s, and counts as a secret', (_what, content) => {
    const config = loadConfig({ MONGODB_URI_FILE: file(content) });
    expect(config.MONGODB_URI).toBe(URI);
    expect(listSecretValues(config)).toEqual([{ name: 'MONGODB_URI', value: URI }]);
  });

  it('keeps every other newline and space', () => {
    const password = ' sixteen or more.  ';
    expect(loadConfig({ ADMIN_USER: 'operator', ADMIN_PASSWORD_FILE: file(`${password}\n`) }).ADMIN_PASSWORD).toBe(password);
    expect(messageOf({ ADMIN_USER: 'operator', ADMIN_PASSWORD_FILE: file(`${password}\n\n`) })).toContain('on one line');
  });

  it('is offered for each secret and for nothing else', () => {
    const missing = join(folder, 'missing');
    const environment = Object.fromEntries(listSettings().map(([name]) => [`${name}_FILE`, missing]));
    const named = [...messageOf(environment).matchAll(/Setting (\w+)_FILE: the file "(.*)" cannot be read \(ENOENT\)/g)];
    const secrets = listSettings().flatMap(([name, { secret }]) => (secret ? [name] : []));
    expect(named.map(([, name]) => name)).toEqual(secrets);
    expect(secrets).toEqual(
      expect.arrayContaining(['SALT_SECRET', 'CHAIN_RPC_URL', 'POLYMARKET_PRIVATE_KEY', 'ATTESTER_SIGNER', 'ORACLE_TOKEN']),
    );
    expect(named.every(([, , path]) => path === missing)).toBe(true);
  });

  it('is named with all other problems, without its content', () => {
    const message = messageOf({
      MONGODB_URI: URI,
      MONGODB_URI_FILE: file(URI),
      SALT_SECRET_FILE: folder,
      ENCRYPTION_SECRET_FILE: file('\n'),
      ATTESTER_PRIVATE_KEY_FILE: file('0xabc-no-key'),
      PORT: 'none',
    });
    for (const words of [
      'Setting MONGODB_URI: is set, and so is MONGODB_URI_FILE: set one of them',
      `Setting SALT_SECRET_FILE: the file "${folder}" cannot be read (EISDIR)`,
      /Setting ENCRYPTION_SECRET_FILE: the file ".*" is empty/,
      'Setting ATTESTER_PRIVATE_KEY: must be a private key',
      'Setting PORT: ',
    ]) {
      expect(message).toMatch(words);
    }
    expect(message).not.toMatch(/pass@|no-key/);
  });

  it('is unset when its name is empty', () => {
    expect(loadConfig({ MONGODB_URI: URI, MONGODB_URI_FILE: '' }).MONGODB_URI).toBe(URI);
  });
});
