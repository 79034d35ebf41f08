import { z } from 'zod';
import { originHostsSchema, type SettingDefinitions, serviceUrlSchema } from './define.ts';

export const INTERFACE_SETTINGS = {
  ADMIN_USER: {
    schema: z
      .string()
      .regex(/^[^:\p{Cc}]{1,64}$/u, 'must have 1 to 64 characters without a colon')
      .optional(),
    description: 'User name of the operator at `/admin`, for HTTP Basic; set with `ADMIN_PASSWORD`; unset: `/admin` is not served',
  },
  ADMIN_PASSWORD: {
    schema: z
      .string()
      .regex(/^\P{Cc}{16,200}$/u, 'must have 16 to 200 characters on one line')
      .optional(),
    secret: true,
    description: 'Password of the operator, 16 characters or more; set with `ADMIN_USER`',
  },
  PUSH_LOCAL_TARGETS: {
    schema: z.enum(['refuse', 'allow']),
    default: 'refuse',
    description:
      '`allow`: webhooks and A2A callbacks to this machine, such as `http://127.0.0.1:8080/`, callbacks also without a token; for development, on a local chain only',
  },
  MCP_ALLOWED_ORIGINS: {
    schema: originHostsSchema.optional(),
    description:
      'Host names of further origins besides `PUBLIC_URL` that may call `/mcp`, separated by commas; `moz-extension://*`: all extensions of that browser; unset: none',
  },
  MCP_PAYMENTS: {
    schema: z.enum(['on', 'off']),
    default: 'on',
    description:
      '`off`: nothing over MCP names or takes payments, for directories that list no tools that can be paid for; also for `npm run mcp`',
  },
  MCP_OAUTH: {
    schema: z.enum(['on', 'off']),
    default: 'on',
    description: '`on`: assistants connect to `/mcp/account` by OAuth, for a wallet that signs once; `off`: access tokens by login only',
  },
  PROTOCOL_FIXTURES: {
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: A2A and MCP also serve the fixtures of their official test suites; on a local chain only',
  },
  ORACLE_URL: {
    schema: serviceUrlSchema.optional(),
    description: 'For `npm run mcp` only: URL of the service; unset: this machine, at `PORT`',
  },
  ORACLE_TOKEN: {
    schema: z
      .string()
      .regex(/^[\w.~+/=-]{1,4096}$/, 'must be an access token or an API key, without spaces and without "Bearer"')
      .optional(),
    secret: true,
    description:
      'For `npm run mcp` and `svc` only: the access token, or an API key of `svc access create`; unset: anonymous, or the stored session',
  },
} satisfies SettingDefinitions;
