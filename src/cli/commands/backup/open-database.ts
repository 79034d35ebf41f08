import type { Address } from 'viem';
import type { StartupContext } from '../../../app/process-context.ts';
import { openSigner } from '../../../app/signers/open-signers.ts';
import { readDemoFile } from '../../../dev/demo/demo-login.ts';
import type { Config } from '../../../platform/config/settings.ts';
import { OracleError } from '../../../platform/errors.ts';
import { openOrAttach, openStorage } from '../script.ts';

export interface BackupTarget {
  mongodbUri: string;
  chainId: number;
  attester: Address;
}

/** The database of the settings, of a running service too. @throws OracleError CONFIG_INVALID for a data folder that was never set up */
export async function openBackupTarget(context: StartupContext): Promise<BackupTarget> {
  const { config } = context;
  if (config.chainMode !== 'real') await readDemoFile(config.DATA_DIR);
  const { mongodbUri, signers } = await openOrAttach(context, openStorage);
  const attester = await openSigner(config, 'attester', signers.attester);
  return { mongodbUri, chainId: config.CHAIN_ID, attester: attester.account.address };
}

/** 32 bytes. @throws OracleError CONFIG_INVALID */
export function requireBackupKey({ BACKUP_KEY }: Pick<Config, 'BACKUP_KEY'>): Buffer {
  if (BACKUP_KEY !== undefined) return Buffer.from(BACKUP_KEY, 'hex');
  throw new OracleError('CONFIG_INVALID', 'Setting BACKUP_KEY: is required to write and to read backups', {
    field: 'BACKUP_KEY',
    suggestedAction: 'Make one with openssl rand -hex 32, and keep it where the backups are not.',
  });
}
