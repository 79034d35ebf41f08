import { z } from 'zod';

/** An OpenAPI document, as far as it is worth saying here: its own standard says the rest. */
export const OPENAPI_DOCUMENT = z.object({
  openapi: z.literal('3.1.0').describe('Version of the OpenAPI specification'),
  info: z
    .looseObject({ title: z.string().describe('Name of the service'), version: z.string().describe('Version of the interface') })
    .describe('What this is'),
  servers: z.array(z.looseObject({ url: z.url().describe('Where the paths begin') })).describe('Where the service is reached'),
  tags: z
    .array(z.looseObject({ name: z.string().describe('Name of the group'), description: z.string().describe('What it is about') }))
    .describe('Groups of operations'),
  paths: z.record(z.string(), z.unknown()).describe('Operations by path and method'),
  components: z.record(z.string(), z.unknown()).describe('What operations share: schemas, headers, examples, ways to authenticate'),
});

/** An AsyncAPI document, as far as it is worth saying here: its own standard says the rest. */
export const ASYNCAPI_DOCUMENT = z.object({
  asyncapi: z.literal('3.1.0').describe('Version of the AsyncAPI specification'),
  info: z
    .looseObject({ title: z.string().describe('Name of the service'), version: z.string().describe('Version of the interface') })
    .describe('What this is'),
  defaultContentType: z.literal('application/json').describe('What all messages are'),
  servers: z.record(z.string(), z.unknown()).describe('Where messages are exchanged'),
  channels: z.record(z.string(), z.unknown()).describe('The WebSocket and the webhooks: their rules and their messages'),
  operations: z.record(z.string(), z.unknown()).describe('What the service sends and takes'),
  components: z.record(z.string(), z.unknown()).describe('Messages with examples, schemas of their payloads, ways to authenticate'),
});
