import { z } from 'zod';
import { originHostsSchema, type SettingDefinitions, serviceUrlSchema } from './define.ts';

export const INTERFACE_SETTINGS = {
  ADMIN_USER: {
    schema: z
      .string()
      .regex(/^[^:\p{Cc}]{1,64}$/u, 'must have 1 to 64 characters without a colon')
      .optional(),
    description: 'User of the operator at `/admin`, by HTTP Basic; set with `ADMIN_PASSWORD`; unset: nothing is served there',
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
      '`allow`: webhooks of this machine, such as `http://127.0.0.1:8080/`, can be registered, and callbacks of tasks without a token; for development, on a local chain only',
  },
  MCP_ALLOWED_ORIGINS: {
    schema: originHostsSchema.optional(),
    description:
      'Host names of pages beside those of `PUBLIC_URL` that may ask at `/mcp`, separated by commas; `moz-extension://*` is every extension of that browser; unset: none',
  },
  PROTOCOL_FIXTURES: {
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: A2A and MCP also serve what their official test suites call by name; on a local chain only',
  },
  ORACLE_URL: {
    schema: serviceUrlSchema.optional(),
    description: 'For `npm run mcp` only: the service that it asks; unset: the one of this machine, at `PORT`',
  },
  ORACLE_TOKEN: {
    schema: z
      .string()
      .regex(/^[\w.~+/=-]{1,4096}$/, 'must be an access token, without spaces and without "Bearer"')
      .optional(),
    secret: true,
    description: 'For `npm run mcp` and `svc` only: the access token that they call with; unset: as anybody, or with the stored session',
  },
} satisfies SettingDefinitions;
