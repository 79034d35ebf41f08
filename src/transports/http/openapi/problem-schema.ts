import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../platform/errors.ts';
import { PAYMENT_MEMBERS } from '../commerce/x402/schemas.ts';

export const PROBLEM = z
  .looseObject({
    type: z.string().describe('URN of the problem type'),
    title: z.string().describe('Title of the problem type'),
    status: z.int().describe('HTTP status'),
    detail: z.string().describe('Explanation of this occurrence'),
    instance: z.string().describe('Requested path'),
    success: z.literal(false).describe('Always false'),
    code: z.enum(Object.keys(ERROR_CODES) as ErrorCode[]).describe('Machine-readable error code'),
    retryable: z.boolean().describe('Whether the same request may succeed later'),
    suggestedAction: z.string().describe('Instruction to resolve the problem'),
    field: z.string().optional().describe('Invalid parameter, body field or header'),
  })
  .describe('Problem details (RFC 9457); further members are facts of this occurrence');

export const PAYMENT_PROBLEM = z
  .looseObject({ ...PROBLEM.shape, ...PAYMENT_MEMBERS })
  .describe('Problem details (RFC 9457), also the 402 of x402 version 1');
