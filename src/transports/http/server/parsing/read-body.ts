import express, { type Request, type Response } from 'express';

/** An order of magnitude above the largest body that an operation needs. */
export const BODY_LIMIT_BYTES = 64 * 1024;

interface BodyRules {
  types: readonly string[];
  limitBytes: number;
}

/** Parses the JSON body of an admitted request. Rejects with the error of the parser, which `createProblemHandler` maps. */
type BodyReader = (request: Request, response: Response) => Promise<void>;

/** Rejects compressed bodies: a small one may inflate to a large one (zip bomb). */
export function createBodyReader({ types, limitBytes }: BodyRules): BodyReader {
  const parser = express.json({ limit: limitBytes, strict: true, inflate: false, type: [...types] });
  return (request, response) =>
    new Promise((resolve, reject) => parser(request, response, (error) => (error === undefined ? resolve() : reject(error))));
}

export const readBody = createBodyReader({ types: ['application/json'], limitBytes: BODY_LIMIT_BYTES });
