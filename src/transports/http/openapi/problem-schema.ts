import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../platform/errors.ts';
import { PAYMENT_MEMBERS } from '../commerce/x402/schemas.ts';

/** `application/problem+json` (RFC 9457) as this door sends it. */
export const PROBLEM = z
  .looseObject({
    type: z.string().describe('URN of the kind of problem'),
    title: z.string().describe('The kind of problem in words, the same for each of its code'),
    status: z.int().describe('HTTP status'),
    detail: z.string().describe('What is wrong with this very request'),
    instance: z.string().describe('Path that was asked for'),
    success: z.literal(false).describe('Never true: where other answers say so, this one denies it'),
    code: z.enum(Object.keys(ERROR_CODES) as ErrorCode[]).describe('The kind of problem, for programs'),
    retryable: z.boolean().describe('Whether the same request may succeed later'),
    suggestedAction: z.string().describe('What to do about it, as an instruction'),
    field: z.string().optional().describe('The parameter, body field or header at fault'),
  })
  .describe('Problem details (RFC 9457); further members are facts of this very error');

/** The same with the terms of what can be paid for with the request. */
export const PAYMENT_PROBLEM = z
  .looseObject({ ...PROBLEM.shape, ...PAYMENT_MEMBERS })
  .describe('Problem details (RFC 9457) that are also the 402 of x402 version 1');
