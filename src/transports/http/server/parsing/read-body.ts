import express, { type Request, type Response } from 'express';
import type { RequestContext } from '../../../../auth/request-context.ts';

/** An order of magnitude above the largest body that an operation needs. */
export const BODY_LIMIT_BYTES = 64 * 1024;

interface BodyRules {
  types: readonly string[];
  limitBytes: number;
}

/** Parses the JSON body of an admitted request, once. Rejects with the error of the parser, which `createProblemHandler` maps. */
type BodyReader = (request: Request, response: Response, context?: Pick<RequestContext, 'suspend'>) => Promise<void>;

/** Rejects compressed bodies: a small one may inflate to a large one (zip bomb). */
export function createBodyReader({ types, limitBytes }: BodyRules): BodyReader {
  const parser = express.json({ limit: limitBytes, strict: true, inflate: false, type: [...types] });
  const parse = (request: Request, response: Response) =>
    new Promise<void>((resolve, reject) => parser(request, response, (error) => (error === undefined ? resolve() : reject(error))));
  // A client that sends slowly holds no capacity meanwhile.
  return (request, response, context) =>
    request.complete || context === undefined ? parse(request, response) : context.suspend(() => parse(request, response));
}

export const readBody = createBodyReader({ types: ['application/json'], limitBytes: BODY_LIMIT_BYTES });
