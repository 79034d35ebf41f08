import { createRequire } from 'node:module';
import type { KmsSdk } from '../../chain/signers/kms-key.ts';
import { OracleError } from '../../platform/errors.ts';

export const KMS_PACKAGE = '@aws-sdk/client-kms';

/** Loads the optional package. @param setting the one that names a KMS key @throws OracleError CONFIG_INVALID with the command that installs it */
export function loadKmsSdk(setting: string, load: (name: string) => unknown = createRequire(import.meta.url)): KmsSdk {
  try {
    return load(KMS_PACKAGE) as KmsSdk;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    const problem = `names a key of AWS KMS, for which the package ${KMS_PACKAGE} is not installed`;
    throw new OracleError('CONFIG_INVALID', `Setting ${setting}: ${problem}`, {
      field: setting,
      suggestedAction: `npm install --no-save ${KMS_PACKAGE}@3`,
      cause,
    });
  }
}
