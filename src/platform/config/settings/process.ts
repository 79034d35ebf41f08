import { z } from 'zod';
import { integerSetting, type SettingDefinitions, urlSetting } from './define.ts';

export const PROCESS_SETTINGS = {
  PORT: {
    schema: integerSetting(0, 65_535),
    default: '3000',
    description: 'TCP port of the HTTP server, with sixteen listeners on Linux; 0 takes a free one',
  },
  HOST: {
    schema: z.string().min(1).optional(),
    description: 'Address to listen on; unset: `127.0.0.1`, reachable from this machine only; `0.0.0.0`: all addresses, for a container',
  },
  DRAIN_SECONDS: {
    schema: integerSetting(0, 60),
    default: '0',
    description:
      'Seconds from a stop signal to the end of accepting requests, for a process behind a proxy: `/health` answers 503 from the signal on, so that other processes are asked',
  },
  METRICS_PORT: {
    schema: integerSetting(0, 65_535).optional(),
    description: 'TCP port of `GET /metrics` for Prometheus, on `METRICS_HOST`; 0 takes a free one; unset: no metrics are served',
  },
  METRICS_HOST: {
    schema: z.string().min(1),
    default: '127.0.0.1',
    description: 'Address of `METRICS_PORT`, which only the scraper of the operator should reach',
  },
  PUBLIC_URL: {
    // Paths are appended, and the URL is public.
    schema: urlSetting(/^https?$/, 'an http(s) URL')
      .refine((text) => !/[?#@]/.test(text), 'must be a URL without user, query and fragment')
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    requiredOnRealChain: true,
    description: 'Public URL of the service, also in the on-chain identity; unset: `http://HOST:PORT`',
  },
  DATA_DIR: {
    schema: z.string().min(1),
    default: './data',
    description: 'Folder of the embedded database, the local chain and `demo.json`',
  },
  ROLE: {
    schema: z.enum(['all', 'api', 'worker']),
    default: 'all',
    description: '`api` answers requests, `worker` runs the pipeline, `all` does both',
  },
  FEEDS: {
    schema: z.string().regex(/^(auto|live|simulated|csv:.+)$/, 'must be auto, live, simulated or csv:<folder>'),
    default: 'auto',
    description: 'Market data: `auto`, `live`, `simulated` or `csv:<folder>`; `auto` uses live data if the providers are reachable',
  },
  PROVIDER_URLS: {
    schema: z
      .string()
      .regex(
        /^([\w-]+|\*)=https?:\/\/[^\s,]+(,([\w-]+|\*)=https?:\/\/[^\s,]+)*$/,
        'must be provider=url with http or https, separated by commas',
      )
      .optional(),
    description:
      'URLs of live data providers, for a mirror or proxy: `provider=url` separated by commas, `*=https://host/{provider}` for all others',
  },
  SOSOVALUE_API_KEY: {
    schema: z.string().min(1).optional(),
    secret: true,
    description: 'Key of the SoSoValue API, a source of ETF flows; unset: sources without a key',
  },
  EVENT_CALENDAR: {
    schema: z.string().min(1).optional(),
    description:
      'CSV file with the columns `event` (`fomc` or `cpi`) and `date`, stored in place of the calendars of the Federal Reserve and the Bureau of Labor Statistics; unset: these calendars',
  },
  SIMULATION_SEED: {
    schema: integerSetting(0, 2 ** 31 - 1),
    default: '2',
    description: 'Seed of the simulated market; equal seeds give equal markets',
  },
  REPLAY_DAYS: {
    schema: integerSetting(0, 3_650),
    default: '120',
    description:
      'Days of history that the first start on a local chain replays; 0: none. 500 take half a minute and 600 MB, ten years four minutes and 1.2 GB, most of it in the node of the chain (`npm run bench -- replay --days 3650`, 2 cores of an AMD EPYC)',
  },
  MONGODB_URI: {
    // Not a URL to every parser: a replica set has several hosts.
    schema: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\/\S+$/, 'must be a mongodb:// or mongodb+srv:// URI')
      .optional(),
    secret: true,
    description: 'MongoDB database; unset: the embedded one in `DATA_DIR`',
  },
  BACKUP_KEY: {
    schema: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex characters, as of openssl rand -hex 32')
      .optional(),
    secret: true,
    description: 'Encrypts what `svc backup` writes, and opens it for `svc restore`; without it backups can be neither written nor read',
  },
} satisfies SettingDefinitions;
