import { integerSetting, type SettingDefinitions, trustedProxiesSchema } from './define.ts';

export const REQUEST_SETTINGS = {
  TRUST_PROXY: {
    schema: trustedProxiesSchema,
    default: '0',
    description:
      'Trusted proxies, whose `X-Forwarded-For` counts: their number, or addresses, ranges, `loopback`, `linklocal`, `uniquelocal`, separated by commas; `0`: none',
  },
  MAX_CONNECTIONS: {
    schema: integerSetting(64, 1_000_000),
    default: '4096',
    description:
      'Maximum client connections: at most a sixteenth per address, an eighth per /56, a quarter per /48. A further eighth is reserved for `/health`, `/ready`, token holders and payers; each needs a file descriptor',
  },
  RATE_LIMIT_PUBLIC: {
    schema: integerSetting(1, 1_000_000),
    default: '60',
    description: 'Requests per minute and address (IPv6: /64) without a valid token',
  },
  RATE_LIMIT_WALLET: {
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description: 'Requests per minute and authenticated wallet, over all addresses',
  },
  RATE_LIMIT_RPC: {
    schema: integerSetting(1, 1_000_000),
    default: '10',
    description: 'Requests per minute and address to operations that call the chain; they also count towards the limits above',
  },
  RATE_LIMIT_TASKS: {
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description:
      'A2A messages stored per hour and address without a token, in units of 4 kB; 20 times as many for all such callers, and 20 times as many again for addresses that have sent at most a tenth',
  },
} satisfies SettingDefinitions;
