import express, { type Request, type Response } from 'express';

/** The largest body that any operation needs is a few kilobytes. */
export const BODY_LIMIT_BYTES = 64 * 1024;

export interface BodyRules {
  /** Media types that are read as JSON. */
  types: readonly string[];
  limitBytes: number;
}

/** Reads the JSON body of a request that was let in. Rejects with what the parser says; `problemHandler` translates it. */
export type BodyReader = (request: Request, response: Response) => Promise<void>;

/** Compressed bodies are refused: a small one may unpack to a large one. */
export function createBodyReader({ types, limitBytes }: BodyRules): BodyReader {
  const parser = express.json({ limit: limitBytes, strict: true, inflate: false, type: [...types] });
  return (request, response) =>
    new Promise((resolve, reject) => parser(request, response, (error) => (error === undefined ? resolve() : reject(error))));
}

export const readBody = createBodyReader({ types: ['application/json'], limitBytes: BODY_LIMIT_BYTES });
