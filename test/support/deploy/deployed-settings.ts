import { createHash } from 'node:crypto';
import { SETTINGS } from '../../../src/settings.ts';

const digestOf = (name: string) => createHash('sha256').update(name).digest('hex');

/** Made-up contents of the secret files, by the settings that they are for. */
function secretOf(name: string): string {
  if (name.endsWith('_PRIVATE_KEY')) return `0x${digestOf(name)}`;
  if (name === 'MONGODB_URI') return 'mongodb://oracle:x@mongo-1,mongo-2,mongo-3/oracle?replicaSet=rs0&authSource=admin';
  if (name === 'CHAIN_RPC_URL') return 'https://base-mainnet.example.com/v2/x';
  return digestOf(name);
}

/** Settings of a deployed process, as if those in files were read from them. */
export function toEnvironment(deployed: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(deployed).map(([name, value]) => {
      const base = name.replace(/_FILE$/, '');
      if (base !== name) return [base, secretOf(base)];
      return [name, String(value) === '<address>' ? `0x${digestOf(name).slice(24)}` : String(value)];
    }),
  );
}

/** Names that are no settings, and settings in files that are no secrets. */
export function listUnknownSettings(names: readonly string[]): string[] {
  const settings: Record<string, object> = SETTINGS;
  return names.filter((name) => {
    const base = name.replace(/_FILE$/, '');
    return !(base in settings) || (base !== name && !('secret' in settings[base]!));
  });
}
