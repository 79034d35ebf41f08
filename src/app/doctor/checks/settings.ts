import { suggestCorrection } from '../../../platform/config/config.ts';
import type { Config, SettingName } from '../../../platform/config/settings.ts';
import { listSettings } from '../../../platform/config/settings.ts';
import { estimateEntropyBits } from '../../../platform/secrets/secret-strength.ts';
import type { Check } from '../check.ts';
import { fail, ok, warn } from '../finding.ts';

const MASTER_SECRETS = ['SALT_SECRET', 'ENCRYPTION_SECRET', 'ADMIN_PASSWORD'] as const satisfies SettingName[];

/** Every wrong setting, and how strong the secrets are. */
export const settingsCheck: Check = {
  id: 'settings',
  title: 'Settings',
  needs: [],
  needsTarget: false,
  async run({ config, problems, isSet }) {
    if (problems.length > 0) return problems.map(({ name, problem }) => fail(`${name}: ${problem}`, { action: suggestCorrection([name]) }));
    const names = listSettings().map(([name]) => name);
    const unknown = config.unknownVariables.map(({ name, problem }) => warn(`${name}: ${problem}`, suggestCorrection([name])));
    return [ok(`${names.filter(isSet).length} of ${names.length} are set, none is wrong`), ...unknown, ...describeStrength(config)];
  },
};

function describeStrength(config: Config) {
  const set = MASTER_SECRETS.filter((name) => config[name] !== undefined);
  if (config.chainMode !== 'real' || set.length === 0) return [];
  return [ok(set.map((name) => `${name} about ${Math.floor(estimateEntropyBits(config[name]!))} bits`).join(', '))];
}
