import { z } from 'zod';

export const OPENAPI_DOCUMENT = z.object({
  openapi: z.literal('3.1.0').describe('OpenAPI version'),
  info: z
    .looseObject({ title: z.string().describe('Name of the service'), version: z.string().describe('API version') })
    .describe('Document type'),
  servers: z.array(z.looseObject({ url: z.url().describe('Base URL') })).describe('Base URLs'),
  tags: z
    .array(z.looseObject({ name: z.string().describe('Group name'), description: z.string().describe('Topics') }))
    .describe('Groups of operations'),
  paths: z.record(z.string(), z.unknown()).describe('Operations by path and method'),
  components: z.record(z.string(), z.unknown()).describe('Shared schemas, headers, examples and security schemes'),
});

export const ASYNCAPI_DOCUMENT = z.object({
  asyncapi: z.literal('3.1.0').describe('AsyncAPI version'),
  info: z
    .looseObject({ title: z.string().describe('Name of the service'), version: z.string().describe('API version') })
    .describe('Document type'),
  defaultContentType: z.literal('application/json').describe('Media type of all messages'),
  servers: z.record(z.string(), z.unknown()).describe('Servers'),
  channels: z.record(z.string(), z.unknown()).describe('WebSocket and webhooks, with their messages'),
  operations: z.record(z.string(), z.unknown()).describe('Messages sent and received'),
  components: z.record(z.string(), z.unknown()).describe('Messages with examples, payload schemas, security schemes'),
});
