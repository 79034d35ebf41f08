import type { AsyncApiSchema } from './json-schema.ts';

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
