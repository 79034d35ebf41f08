import type { AsyncApiSchema } from './json-schema.ts';

/** A message object of AsyncAPI 3, as far as it is used here. */
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
