/** Discovery extension, by which facilitators list paid resources (x402, specs/extensions/bazaar.md). */
export const BAZAAR = 'bazaar';

export const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type JsonSchema = Record<string, unknown>;

/** `schema` validates `info`. */
export interface BazaarDeclaration {
  info: { input: Record<string, unknown>; output: { type: 'json'; example: Record<string, unknown> } };
  schema: JsonSchema;
}

export interface AnswerSample {
  /** A constant: it carries nothing of a forecast. */
  example: Record<string, unknown>;
  /** Schema of the members of `example`. */
  schema: JsonSchema;
}

/** A resource that is bought with a GET request. @param query example and schema of its query */
export function declareHttpResource(query: AnswerSample, output: AnswerSample): BazaarDeclaration {
  const input = { type: 'http', method: 'GET', queryParams: query.example };
  return declare(input, { queryParams: query.schema }, ['method'], output);
}

/** A resource that is bought with a POST request of JSON. @param body example and schema of its body */
export function declareJsonResource(body: AnswerSample, output: AnswerSample): BazaarDeclaration {
  const input = { type: 'http', method: 'POST', bodyType: 'json', body: body.example };
  return declare(input, { body: body.schema }, ['method', 'bodyType', 'body'], output);
}

/** A tool of an MCP server over Streamable HTTP, which the listing identifies by server URL and name. @param example arguments */
export function declareMcpTool(
  tool: { toolName: string; description: string; inputSchema: JsonSchema; example: Record<string, unknown> },
  output: AnswerSample,
): BazaarDeclaration {
  const input = { type: 'mcp', transport: 'streamable-http', ...tool };
  const [text, object] = [{ type: 'string' }, { type: 'object' }];
  const schemas = { toolName: text, description: text, inputSchema: object, example: object };
  return declare(input, schemas, ['toolName', 'inputSchema'], output);
}

/** Members of `input` without a schema of their own are constants. @param required besides `type` */
function declare(
  input: { type: string } & Record<string, unknown>,
  schemas: Record<string, JsonSchema>,
  required: readonly string[],
  output: AnswerSample,
): BazaarDeclaration {
  const toSchema = (name: string, value: unknown) =>
    schemas[name] ?? { type: 'string', ...(name === 'type' ? { const: value } : { enum: [value] }) };
  const properties = Object.fromEntries(Object.entries(input).map(([name, value]) => [name, toSchema(name, value)]));
  const inputSchema = { type: 'object', properties, required: ['type', ...required], additionalProperties: false };
  const outputSchema = { type: 'object', properties: { type: { type: 'string' }, example: output.schema }, required: ['type'] };
  return {
    info: { input, output: { type: 'json', example: output.example } },
    schema: {
      $schema: SCHEMA_DIALECT,
      type: 'object',
      properties: { input: inputSchema, output: outputSchema },
      required: ['input'],
    },
  };
}

/** A forecast that was never made, as an example in listings: constants, so that they carry nothing of a real one. */
const SAMPLE_FORECAST = {
  signal: 'BUY',
  direction: 'UP',
  confidence: 0.5431,
  pUp: 0.5431,
  horizon: '7d',
  date: '2024-01-01',
  predictionId: '2024-01-01:7d',
  windowOpensAt: '2024-01-02T00:00:00.000Z',
  resolvesAt: '2024-01-09T00:00:00.000Z',
};

const SAMPLE_PROOF = { salt: `0x${'5a'.repeat(32)}`, attestationUid: `0x${'a7'.repeat(32)}` };

const SAMPLE_BREAKDOWN = {
  categories: {
    trend: { signal: 'BUY', score: 0.41 },
    momentum: { signal: 'HOLD', score: 0.12 },
    flow: { signal: 'HOLD', score: -0.08 },
    value: { signal: 'BUY', score: 0.23 },
  },
  quantiles: [
    { level: 0.1, price: 39_480.5 },
    { level: 0.5, price: 42_310.25 },
    { level: 0.9, price: 45_702.75 },
  ],
};

/** The members of an answer that a listing shows, by name of the x402 offering. */
export const SAMPLE_ANSWERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  x402_signal: { ...SAMPLE_FORECAST, ...SAMPLE_PROOF },
  x402_premium_signal: { ...SAMPLE_FORECAST, ...SAMPLE_BREAKDOWN },
};
