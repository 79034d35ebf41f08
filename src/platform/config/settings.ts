import type { z } from 'zod';
import { CHAIN_SETTINGS } from './settings/chain.ts';
import type { SettingDefinition } from './settings/define.ts';
import { FORECAST_SETTINGS } from './settings/forecasts.ts';
import { INTERFACE_SETTINGS } from './settings/interfaces.ts';
import { PAYMENT_SETTINGS } from './settings/payments.ts';
import { PROCESS_SETTINGS } from './settings/process.ts';
import { REQUEST_SETTINGS } from './settings/requests.ts';
import { SIGNER_SETTINGS } from './settings/signers.ts';

/** All settings. Validation, documentation and log censoring derive from this table. */
export const SETTINGS = {
  ...PROCESS_SETTINGS,
  ...CHAIN_SETTINGS,
  ...SIGNER_SETTINGS,
  ...REQUEST_SETTINGS,
  ...PAYMENT_SETTINGS,
  ...INTERFACE_SETTINGS,
  ...FORECAST_SETTINGS,
};

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [K in SettingName]: z.output<(typeof SETTINGS)[K]['schema']> };

export interface Config extends Omit<SettingValues, 'CHAIN_ID'> {
  readonly CHAIN_ID: number;
  /** By the settings, never by address or chain id. `own`: this process runs the local chain; `attached`: another one on the data folder does. */
  readonly chainMode: 'own' | 'attached' | 'real';
  /** Variables that look like settings and are none; problems on a real chain. */
  readonly unknownVariables: readonly SettingProblem[];
}

/** A missing, invalid or unknown setting. Contains no secret value. */
export interface SettingProblem {
  /** Of the variable. */
  name: string;
  problem: string;
}

export const listSettings = () => Object.entries(SETTINGS) as [SettingName, SettingDefinition][];

/** Environment variables of the settings: their names, and those of files with secrets. */
export function listVariables(): string[] {
  return listSettings().flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]));
}

export function listSecretValues(config: Config): { name: string; value: string }[] {
  return listSettings()
    .filter(([name, { secret }]) => secret && config[name] !== undefined)
    .map(([name]) => ({ name, value: String(config[name]) }));
}

export function renderSettingsTable(): string {
  const rows = listSettings().map(([name, definition]) => {
    const notes = [definition.secret && 'secret', definition.requiredOnRealChain && 'required on a real chain'].filter(Boolean);
    const shownDefault = definition.default === undefined ? '' : `\`${definition.default}\``;
    return `| \`${name}\` | ${shownDefault} | ${definition.description}${notes.length > 0 ? ` (${notes.join('; ')})` : ''} |`;
  });
  return ['| Setting | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
