import { z } from 'zod';
import { addressSchema, integerSetting, privateKeySchema, type SettingDefinitions, serviceUrlListSchema, urlSetting } from './define.ts';

export const FORECAST_SETTINGS = {
  REVEAL: {
    schema: z.enum(['resolution', 'immediate']),
    default: 'resolution',
    description: 'When a forecast is revealed to everyone: at its `resolution`, or `immediate`ly',
  },
  MODEL_CHAMPION: {
    schema: z.enum(['m0-d1', 'm1']),
    default: 'm0-d1',
    description: 'Model version that the service forecasts by; the others are committed and scored beside it as challengers',
  },
  MODEL_CHAMPION_FORCE: {
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: a version becomes champion that the record has not proven better; the record shows for ever that it was forced',
  },
  OTS_CALENDARS: {
    schema: serviceUrlListSchema.optional(),
    description:
      'OpenTimestamps calendars that stamp the commitments of each day, URLs separated by commas, such as `https://a.pool.opentimestamps.org,https://a.pool.eternitywall.com`; unset: none',
  },
  WAGERS: {
    schema: z.enum(['paper', 'polymarket', 'off']),
    default: 'paper',
    description: 'Venue of the daily wager: `paper`, `polymarket`, or `off` for no new wagers; open ones still settle',
  },
  WAGER_KILL_SWITCH: {
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: no new wagers at any venue, open ones still settle',
  },
  WAGER_MAX_STAKE_USD: {
    schema: integerSetting(1, 1_000_000),
    default: '50',
    description: 'Maximum stake of one wager at Polymarket, whole dollars',
  },
  WAGER_MAX_OPEN_USD: {
    schema: integerSetting(1, 1_000_000),
    default: '250',
    description: 'Maximum sum of open stakes at Polymarket, whole dollars',
  },
  PAPER_BANKROLL_USD: {
    schema: integerSetting(1, 1_000_000_000),
    default: '10000',
    description: 'Initial balance of the paper account and of the dry run at Polymarket, whole dollars',
  },
  POLYMARKET_DRY_RUN: {
    schema: z.enum(['true', 'false']).transform((text) => text === 'true'),
    default: 'true',
    description: '`true`: orders are priced and filled from the live order book and recorded, but not sent; `false`: real money',
  },
  POLYMARKET_PRIVATE_KEY: {
    schema: privateKeySchema.optional(),
    secret: true,
    description: 'Key that signs orders at Polymarket; required when `WAGERS=polymarket` and `POLYMARKET_DRY_RUN=false`',
  },
  POLYMARKET_SIGNATURE_TYPE: {
    schema: integerSetting(0, 3),
    default: '0',
    description:
      'How the wallet at Polymarket signs: `0` EOA, the key itself; `1` POLY_PROXY; `2` POLY_GNOSIS_SAFE; `3` POLY_1271, a deposit wallet',
  },
  POLYMARKET_FUNDER: {
    schema: addressSchema.optional(),
    description: 'Wallet that funds orders at Polymarket; required for signature types 1 to 3; unset: the address of the key',
  },
  POLYMARKET_HOST: {
    schema: urlSetting(/^https?$/, 'an http(s) URL'),
    default: 'https://clob.polymarket.com',
    description: 'URL of the Polymarket order book',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Minimum log level: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  },
} satisfies SettingDefinitions;
