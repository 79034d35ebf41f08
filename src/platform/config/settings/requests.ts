import { integerSetting, type SettingDefinitions, trustedProxiesSchema } from './define.ts';

export const REQUEST_SETTINGS = {
  TRUST_PROXY: {
    schema: trustedProxiesSchema,
    default: '0',
    description:
      'Proxies in front of the service whose `X-Forwarded-For` is believed: how many, or their addresses, ranges, `loopback`, `linklocal`, `uniquelocal`, separated by commas; `0`: none',
  },
  MAX_CONNECTIONS: {
    schema: integerSetting(64, 1_000_000),
    default: '4096',
    description:
      'Connections that clients may have in all: one address a sixteenth, a /56 an eighth, a /48 a quarter of them. An eighth on top is for `/health`, `/ready`, token holders and payers; the process needs a file descriptor each',
  },
  RATE_LIMIT_PUBLIC: {
    schema: integerSetting(1, 1_000_000),
    default: '60',
    description: 'Requests a minute of one address (IPv6: one /64) without a valid token',
  },
  RATE_LIMIT_WALLET: {
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description: 'Requests a minute of one wallet that is logged in, from wherever',
  },
  RATE_LIMIT_RPC: {
    schema: integerSetting(1, 1_000_000),
    default: '10',
    description: 'Requests a minute of one address to operations that call the chain; they count above as well',
  },
  RATE_LIMIT_TASKS: {
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description:
      'A2A messages an hour, in units of 4 kB, that are kept for one address without a token; for all such callers 20 times as many',
  },
} satisfies SettingDefinitions;
