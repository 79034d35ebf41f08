import express, { type Request, type Response } from 'express';

/** The largest body that any operation needs is a few kilobytes. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/** Compressed bodies are refused: a small one may unpack to a large one. */
const parser = express.json({ limit: BODY_LIMIT_BYTES, strict: true, inflate: false });

/** Reads the JSON body of a request that was let in. Rejects with what the parser says; `problemHandler` translates it. */
export function readBody(request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => parser(request, response, (error) => (error === undefined ? resolve() : reject(error))));
}
