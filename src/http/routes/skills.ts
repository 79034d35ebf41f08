import { z } from 'zod';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../skills/index.ts';
import { getTerms, isForSale, prepareCall } from '../../../skills/runner.ts';
import { buildSkillSample, formatPrice, type Skill, toSkillJsonSchema } from '../../../skills/skill.ts';
import { PAYING_CALLER } from '../../auth/caller.ts';
import { formatAmount, getOfferingId } from '../../commerce/offerings.ts';
import { type BazaarDeclaration, declareJsonResource } from '../../commerce/x402/bazaar.ts';
import { toSaleResponse } from '../../commerce/x402/sales.ts';
import { OracleError } from '../../errors.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { COUNT, DECIMAL, listOf, namedObject, nullableObjectOf, objectOf, SUCCESS } from '../../platform/validation.ts';
import { PROBLEM } from '../openapi/document.ts';
import { toPascalCase } from '../openapi/schemas.ts';
import { readPaymentProof, toProblemDetails } from '../problems.ts';
import { toTaggedReply } from '../replies.ts';
import { PAYMENT_HEADERS } from '../request.ts';
import { type Route, route } from '../route.ts';
import { SOLD } from '../schemas/payment.ts';
import type { AgentTask, Services } from '../services.ts';
import { buildSoldHeaders, REF_QUERY, SALE_ERRORS } from './paid.ts';

/** Interface, section 4.5: the list of skills, and one operation per skill. */
export function skillRoutes(deps: Services): Route[] {
  let cached: ReturnType<typeof buildSkillList> | undefined;
  return [
    route(`GET ${ENDPOINTS.skills}`, 'listSkills', {
      tag: 'skills',
      summary: 'All skills with schemas, tier, price, freshness and endpoints',
      reply: SKILL_LIST,
      handle() {
        cached ??= buildSkillList(deps.publicUrl);
        return cached;
      },
    }),
    ...SKILLS.map((skill) => callRoute(deps, skill)),
  ];
}

function buildSkillList(publicUrl: string) {
  const contracts = new Map(buildSkillContracts().map((contract) => [contract.id, contract]));
  const at = (path: string) => joinUrl(publicUrl, path);
  const skills = SKILLS.map((skill) => {
    const { id, title, summary, description, tags, examples, tier, cost } = skill;
    const { price, freshness, input: inputSchema, output: outputSchema } = contracts.get(id)!;
    return {
      id,
      title,
      summary,
      description,
      tags: [...tags],
      examples: [...examples],
      tier,
      price,
      freshness,
      cost,
      inputSchema,
      outputSchema,
      reachedAt: {
        rest: at(getSkillPath(skill)),
        task: at('/api/svc/a2a/tasks/send'),
        mcp: { url: at(ENDPOINTS.mcp), tool: id },
        a2a: { card: at(ENDPOINTS.agentCard), skill: id },
      },
    };
  });
  return toTaggedReply({ success: true as const, skills, count: skills.length }, { 'Cache-Control': 'public, max-age=300' });
}

export function buildSkillContracts() {
  return SKILLS.map(({ offering, ...skill }) => ({
    id: skill.id,
    tier: skill.tier,
    price: {
      description: formatPrice({ ...skill, offering }),
      singleAnswer: offering && {
        offering: getOfferingId(offering),
        amount: formatAmount(offering.price),
        asset: offering.price.asset,
      },
    },
    freshness: { ...skill.freshness },
    examples: skill.examples.map(({ input }) => input),
    // Wire format: fields with a default are optional.
    // Output schemas may gain fields.
    input: toSkillJsonSchema(skill.input, 'input'),
    output: toSkillJsonSchema(skill.output, 'input'),
  }));
}

function callRoute(deps: Services, skill: Skill): Route {
  const { id, summary, description, input, tier, offering, cost, errors } = skill;
  const isSold = offering !== null;
  const bazaar = isSold ? declareSkillOperation(skill) : undefined;
  const endpoint = getSkillPath(skill);
  return route(`POST ${endpoint}`, `run${toPascalCase(id)}`, {
    tag: 'skills',
    summary,
    description: `${description}\n\nThe body is the input of the skill; a missing body is an empty input.${isSold ? ` ${SOLD_DESCRIPTION}` : ''}`,
    access: tier,
    boughtAs: offering,
    isSold,
    variesByCaller: true,
    cost,
    ...(isSold && { query: REF_QUERY }),
    body: input,
    bodyOptional: true,
    reply: buildSkillReplySchema(skill),
    errors: isSold ? [...errors, ...SALE_ERRORS] : errors,
    async handle({ body, query, caller, context, header }) {
      if (!isForSale(getTerms(skill, body), caller)) {
        // Requests that carry a payment have limits of their own, which what is free must not take.
        if (isSold && caller.wallet === undefined && PAYMENT_HEADERS.some((name) => header(name) !== undefined)) throw freeAnswerError();
        const { output, text } = await deps.runSkill(prepareCall(id, body, caller), context);
        return { body: { success: true as const, skill: id, output, text } };
      }
      const sale = { call: prepareCall(id, body, PAYING_CALLER), endpoint, bazaar };
      const quote = await deps.paidCalls.quote(sale);
      const proof = readPaymentProof(header, quote);
      const payment = proof?.payment ?? null;
      const sold = await deps.paidCalls.sell({ ...sale, payment, ref: query.ref, context, owner: context.address });
      const { output, text } = sold;
      const headers = buildSoldHeaders(sold, quote, proof);
      return { headers, body: { success: true as const, skill: id, output, text, ...toSaleResponse(sold) } };
    },
  });
}

function freeAnswerError(): OracleError {
  const suggestedAction = 'Send the call without a payment: nothing was charged.';
  return new OracleError('INPUT_INVALID', 'This answer is free and takes no payment', { field: 'payment', suggestedAction });
}

const getSkillPath = ({ id }: Skill) => `${ENDPOINTS.skills}/${id}`;

const JSON_SCHEMA = z.record(z.string(), z.unknown());

const LISTED = z.object({
  id: z.string().describe('Skill id, the same on all interfaces'),
  title: z.string().describe('Short title'),
  summary: z.string().describe('What it returns, in one sentence'),
  description: z.string().describe('What it returns, and its limits'),
  tags: z.array(z.string()).describe('Topics'),
  examples: listOf('Examples', {
    say: z.string().describe('Example prompt'),
    input: z.record(z.string(), z.unknown()).describe('Equivalent input'),
  }),
  tier: z.enum(['public', 'basic', 'premium']).describe('Lowest tier that may call it'),
  price: objectOf('Price', {
    description: z.string().describe('Price as text'),
    singleAnswer: nullableObjectOf('Price of a single answer without the tier; null where none is sold or needed', {
      offering: z.string().describe('Offering id: `<channel>:<name>`'),
      amount: DECIMAL.describe('Price, an exact decimal in `asset`'),
      asset: z.string().describe('Currency of the price, e.g. USD'),
    }),
  }),
  freshness: objectOf('How long an output stays current', {
    description: z.string().describe('When the output changes'),
    seconds: COUNT.describe('Approximate seconds until the output changes'),
  }),
  cost: z.enum(['normal', 'rpc']).describe('`rpc` counts against the lower limit of chain calls'),
  inputSchema: JSON_SCHEMA.describe('JSON Schema of the input; fields with a default are optional'),
  outputSchema: JSON_SCHEMA.describe('JSON Schema of the output; fields may be added'),
  reachedAt: objectOf('Endpoints of the skill', {
    rest: z.url().describe('POST the input as JSON'),
    task: z.url().describe('POST `{ "skill": <id>, "input": <input> }` to run it as a task'),
    mcp: z.object({ url: z.url().describe('MCP server'), tool: z.string().describe('Tool name') }).describe('MCP'),
    a2a: z.object({ card: z.url().describe('Agent card'), skill: z.string().describe('Skill id in the card') }).describe('A2A'),
  }),
});

const SKILL_LIST = namedObject('SkillList', {
  success: SUCCESS,
  skills: z.array(LISTED).describe('All skills'),
  count: COUNT.describe('Number of skills'),
});

/** The answer to a caller with the tier; where single answers are sold also a paid one. */
export function buildSkillReplySchema({ id, output, offering, publicPart }: Pick<Skill, 'id' | 'output' | 'offering' | 'publicPart'>) {
  const named = { success: SUCCESS, skill: z.literal(id).describe('Skill that was called') };
  const text = z.string().describe('The output in plain sentences');
  const answerOf = (form: z.ZodType) => z.object({ ...named, output: form.describe('Output of the skill'), text });
  const answer = answerOf(publicPart === undefined ? output : z.union([output, publicPart.output]));
  if (offering === null) return answer;
  return z.union([z.object({ ...answerOf(output).shape, ...SOLD }), answer]);
}

const SOLD_DESCRIPTION =
  'Without a token it is sold as a single answer: 402 with the terms, as any paid operation. `payment` and `receipt` are added to a paid answer; the receipt has the hash of `output`. The same payment from the same address, or with its payment-identifier, gets the same answer over any interface and is never charged twice.';

/** How facilitators list the operation of a skill whose single answers are sold. */
export function declareSkillOperation(skill: Skill): BazaarDeclaration {
  const { input, examples } = skill;
  const answer = buildSkillSample(skill);
  const reply = { example: { output: answer.example }, schema: { type: 'object', properties: { output: answer.schema } } };
  return declareJsonResource({ example: examples[0].input, schema: toSkillJsonSchema(input, 'input') }, reply);
}

const TASKS_PATH = '/api/svc/a2a/tasks';

/** Interface, section 4.5: skills as tasks, for agents without the A2A protocol. */
export function agentTaskRoutes({ agentTasks }: Services): Route[] {
  return [
    route(`POST ${TASKS_PATH}/send`, 'sendAgentTask', {
      tag: 'skills',
      access: 'basic',
      summary: 'Runs a skill as a task and returns its result',
      description:
        'An invalid request (unknown skill, wrong input) is rejected and not stored. A failed task answers 200 with `failed` and the problem. Tasks are kept for 7 days and visible to their wallet only. A request may carry `jsonrpc` and `id`: `id` is echoed in the envelope and in problem documents; the task id is `result.id`.',
      body: TASK_BODY,
      reply: TASK_REPLY,
      problemMembers: pickCallMembers,
      async handle({ body: { jsonrpc: _, id, ...request }, context }) {
        return { body: toTaskReply(await agentTasks.send(request, context), id) };
      },
    }),
    route(`GET ${TASKS_PATH}/{id}`, 'getAgentTask', {
      tag: 'skills',
      access: 'basic',
      summary: 'Status and result of a task',
      params: z.object({
        id: z.uuid('must be the id of a task: a UUID').toLowerCase().describe('Id of a task of this wallet, sent here or over A2A'),
      }),
      reply: TASK_REPLY,
      errors: ['NOT_FOUND'],
      async handle({ params: { id }, context }) {
        const task = await agentTasks.get(id, context);
        if (task !== null) return { body: toTaskReply(task) };
        const suggestedAction = 'Send a token of the wallet that sent the task; tasks are kept for 7 days.';
        throw new OracleError('NOT_FOUND', 'No such task of this wallet', { field: 'id', suggestedAction });
      },
    }),
  ];
}

function toTaskReply({ id, skill, outcome }: AgentTask, callId: string | number = id): z.input<typeof TASK_REPLY> {
  const { status } = outcome;
  if (outcome.status !== 'failed') {
    return { jsonrpc: '2.0', id: callId, result: { id, status, skill, result: outcome.status === 'working' ? null : outcome.output } };
  }
  const { code, message, ...options } = outcome.error;
  const problem = toProblemDetails(new OracleError(code, message, options), `${TASKS_PATH}/${id}`);
  return { jsonrpc: '2.0', id: callId, result: { id, status, skill, result: problem } };
}

const IDS = SKILLS.map(({ id }) => id);

const CALL_ID = z.union([z.string().max(256), z.int()], { error: 'must be a string of at most 256 characters, or a whole number' });

const TASK_BODY = z
  .strictObject({
    jsonrpc: z.literal('2.0', { error: 'must be "2.0"' }).optional().describe('JSON-RPC version, where the client sends an envelope'),
    id: CALL_ID.optional().describe('Request id of the client, echoed as `id` of the envelope and of problem documents'),
    skill: z.enum(IDS, { error: `must be one of ${IDS.join(', ')}` }).describe('Skill to run; GET /api/svc/skills lists them'),
    input: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('Input of the skill, by its schema; with `skill` at most 4096 bytes of JSON'),
    metadata: z.record(z.string(), z.unknown()).optional().describe('Metadata to store with the task: at most 2048 bytes of JSON'),
  })
  .meta({ examples: [{ skill: 'get_market_context', input: { include: ['price', 'sentiment'] } }] });

/** Interface, section 2.9. */
const TASK_REPLY = namedObject('TaskResponse', {
  jsonrpc: z.literal('2.0').describe('JSON-RPC envelope'),
  id: CALL_ID.describe('`id` of the request; without one the task id'),
  result: objectOf('Task', {
    id: z.uuid().describe('Task id, valid at GET /api/svc/a2a/tasks/{id} and over A2A'),
    status: z
      .enum(['completed', 'failed', 'working'])
      .describe('`working` only for a task sent over A2A that is running or awaits a message'),
    skill: z.string().describe('Skill id; empty while a text sent over A2A has not named one'),
    result: z
      .union([...SKILLS.flatMap(({ output, publicPart }) => [output, ...(publicPart === undefined ? [] : [publicPart.output])]), PROBLEM])
      .nullable()
      .describe('Output of the skill when `completed`, problem document when `failed`, null while `working`'),
  }),
});

/** Members that a problem document echoes: the `id` of the request, if valid. */
function pickCallMembers(body: unknown): { jsonrpc?: '2.0'; id?: string | number } {
  const { success, data } = CALL_ID.safeParse((body as { id?: unknown } | null | undefined)?.id);
  return success ? { jsonrpc: '2.0', id: data } : {};
}
