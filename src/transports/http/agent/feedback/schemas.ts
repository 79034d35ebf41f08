import { z } from 'zod';
import { objectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, COUNT, HEX, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { describeParameter } from '../../server/parsing/describe-parameter.ts';
import { txHashInput } from '../../server/parsing/transaction-hash.ts';
import { rawWalletInput } from '../../server/parsing/wallet-parameters.ts';

export const FEEDBACK_PARAMS = z.object({
  txHash: txHashInput('Payment transaction'),
  payer: rawWalletInput,
});

const MAX_VALUE = Number.MAX_SAFE_INTEGER;
const MAX_DECIMALS = 18;

const wholeNumber = (min: number, max: number) => {
  const rule = `must be given once, as a whole number from ${min} to ${max}`;
  return z
    .string({ error: rule })
    .regex(/^-?\d{1,16}$/, rule)
    .transform(Number)
    .pipe(z.number().min(min, rule).max(max, rule));
};

const TAG_RULE = 'must have 1 to 32 letters, digits or the characters _ . : -';
const tagInput = z.string({ error: `must be given once, and ${TAG_RULE}` }).regex(/^[A-Za-z0-9_.:-]{1,32}$/, TAG_RULE);

export const RATING_QUERY = z.object({
  value: wholeNumber(-MAX_VALUE, MAX_VALUE).meta(
    describeParameter({ type: 'integer', minimum: -MAX_VALUE, maximum: MAX_VALUE }, 'Your rating, in units of 10^-`valueDecimals`'),
  ),
  valueDecimals: wholeNumber(0, MAX_DECIMALS)
    .prefault('0')
    .meta(describeParameter({ type: 'integer', minimum: 0, maximum: MAX_DECIMALS, default: 0 }, 'Decimals of `value`')),
  tag1: tagInput.default('starred').describe('What is rated, by the tags of ERC-8004: `starred` is quality from 0 to 100'),
  tag2: tagInput.optional().describe('Further tag'),
});

/** Only paid clients have such a file; all members are public on chain. */
export const FEEDBACK_FILE = z.object({
  agentRegistry: z.string().describe('Identity registry of the agent, `eip155:<chain id>:<address>`'),
  agentId: COUNT.describe('Agent id in that registry, from 0'),
  clientAddress: z.string().describe('Payer, which gives the feedback, CAIP-10'),
  createdAt: TIME.describe('Block time of the payment, since equal input gives equal bytes'),
  value: z.int().describe('Rating in units of 10^-`valueDecimals`, as requested'),
  valueDecimals: COUNT.describe('Decimals of `value`'),
  tag1: z.string().optional().describe('Tag, as requested'),
  tag2: z.string().optional().describe('Further tag, as requested; absent without one'),
  proofOfPayment: objectOf('Transfer that paid the agent', {
    fromAddress: ADDRESS.describe('Sender of the transfer: the payer, or the escrow contract of a job'),
    toAddress: ADDRESS.describe('Paid wallet'),
    chainId: z.string().describe('Chain id, decimal'),
    txHash: BYTES32.describe('Payment transaction'),
  }),
  job: z.string().optional().describe('`job:<contract>:<job id>` of a job, whose client is the payer; absent otherwise'),
});

export const FEEDBACK_TRANSACTION = z.object({
  success: SUCCESS,
  feedbackUri: z.url().describe('The feedback file with this rating, at this service'),
  feedbackHash: BYTES32.describe('keccak256 of its bytes'),
  from: ADDRESS.describe('Payer, which sends the transaction'),
  transaction: objectOf('Call of `giveFeedback`', {
    chainId: z.int().describe('Chain id'),
    to: ADDRESS.describe('ERC-8004 reputation registry'),
    data: HEX.describe('Calldata'),
  }),
});
