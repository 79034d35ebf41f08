import type { AsyncApiSchema } from './json-schema.ts';

/** The used subset of an AsyncAPI 3 message object. */
export interface MessageObject {
  name: string;
  title: string;
  summary: string;
  contentType: 'application/json';
  headers?: AsyncApiSchema;
  payload: AsyncApiSchema;
  examples: MessageExample[];
}

export interface MessageExample {
  name?: string;
  summary?: string;
  headers?: object;
  payload: object;
}
