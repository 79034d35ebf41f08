import { faults, type JsonSchema } from './reply-schema.ts';

interface Ref {
  $ref: string;
}

/** A message of an AsyncAPI document. */
export interface Message {
  name: string;
  title: string;
  summary: string;
  contentType: string;
  headers?: Ref;
  payload: JsonSchema;
  /** Of events. */
  examples?: { payload: { type: string } }[];
}

/** An AsyncAPI document, as far as tests read it. */
export interface AsyncApi {
  asyncapi: string;
  info: { title: string; version: string };
  servers: Record<string, { host: string; pathname?: string; protocol: string; security?: Ref[] }>;
  channels: Record<'socket' | 'webhook', Channel>;
  operations: Record<string, { action: 'send' | 'receive'; channel: Ref; messages: Ref[]; summary: string }>;
  components: { messages: Record<string, Message>; schemas: Record<string, JsonSchema> };
}

interface Channel {
  address: string | null;
  messages: Record<string, Ref>;
  bindings?: { ws: { query: JsonSchema } };
  'x-close-codes'?: { code: number; meaning: string }[];
}

/** The document that a running service serves. */
export async function fetchAsyncApi(url: string): Promise<AsyncApi> {
  return (await (await fetch(`${url}/.well-known/asyncapi.json`)).json()) as AsyncApi;
}

/** What a document says of a message of a channel. @throws Error for one that it does not know */
export function messageOf({ channels, components }: AsyncApi, channel: 'socket' | 'webhook', type: string): Message {
  const ref = channels[channel].messages[type];
  if (ref === undefined) throw new Error(`${channel} has no message "${type}"`);
  return components.messages[ref.$ref.replace('#/components/messages/', '')];
}

/** What is wrong with a message by the document, one line a fault; also a field that the document does not speak of. */
export function messageFaults(document: AsyncApi, channel: 'socket' | 'webhook', message: { type: string }): string[] {
  const { payload } = messageOf(document, channel, message.type);
  return faults(payload, message, document.components.schemas).map((fault) => `${message.type}: ${fault}`);
}

/** The same of the headers of a delivery, of those that the document speaks of. */
export function headerFaults({ components: { schemas } }: AsyncApi, headers: Readonly<Record<string, unknown>>): string[] {
  const schema = schemas.deliveryHeaders;
  const known = Object.keys(schema.properties!).filter((name) => headers[name] !== undefined);
  return faults(schema, Object.fromEntries(known.map((name) => [name, headers[name]])));
}
