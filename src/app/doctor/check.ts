import type { Address } from 'viem';
import type { Chain } from '../../chain/client.ts';
import type { WalletRole } from '../../chain/tx/wallet.ts';
import type { Config, SettingName, SettingProblem } from '../../platform/config/settings.ts';
import type { Log } from '../../platform/log.ts';
import type { Database } from '../../platform/mongo.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { Finding } from './finding.ts';

export interface RoleWallet {
  role: WalletRole;
  address: Address;
}

/** Database, chain and keys of the service that is examined. */
export type DoctorTarget = Omit<Infrastructure, 'mongodbUri' | 'localChain'> & { mongodbUri: string | null };

export interface DoctorDeps {
  config: Config;
  problems: readonly SettingProblem[];
  /** Names of the settings that the environment sets. */
  isSet(name: SettingName): boolean;
  /** The reason where there is none. */
  target: DoctorTarget | string;
  /** One connection of all checks, read only. @throws OracleError */
  database(): Promise<Database>;
  /** @throws OracleError CONFIG_INVALID for another chain id, CHAIN_UNREACHABLE */
  chain(): Promise<Chain>;
  /** The wallets of the roles; a signer is asked for its address and signs nothing. @throws OracleError SIGNER_UNAVAILABLE, CONFIG_INVALID */
  roles(): Promise<RoleWallet[]>;
  /** Host of an SNTP server; null: not asked. */
  ntpHost: string | null;
  log: Log;
  now(): Date;
}

/** Read-only: no check writes to database, chain or disk. */
export interface Check {
  id: string;
  title: string;
  /** Settings without which it means nothing: it is skipped while one of them is wrong. */
  needs: readonly SettingName[];
  /** Whether it needs a service, running or described by the settings. */
  needsTarget: boolean;
  /** Connections that another check examines: it is skipped while one of them fails. */
  uses?: readonly ('database' | 'chain')[];
  /** @throws OracleError, which becomes a finding */
  run(deps: DoctorDeps, target: DoctorTarget): Promise<Finding[]>;
}
