/** Discovery extension, by which facilitators list paid resources (x402, specs/extensions/bazaar.md). */
export const BAZAAR = 'bazaar';

const SCHEMA_DIALECT = 'https://json-schema.org/draft/2020-12/schema';

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
  const properties = {
    type: { type: 'string', const: 'http' },
    method: { type: 'string', enum: ['GET'] },
    queryParams: query.schema,
  };
  return declare(input, { properties, required: ['type', 'method'] }, output);
}

/** A resource that is bought with a POST request of JSON. @param body example and schema of its body */
export function declareJsonResource(body: AnswerSample, output: AnswerSample): BazaarDeclaration {
  const input = { type: 'http', method: 'POST', bodyType: 'json', body: body.example };
  const properties = {
    type: { type: 'string', const: 'http' },
    method: { type: 'string', enum: ['POST'] },
    bodyType: { type: 'string', enum: ['json'] },
    body: body.schema,
  };
  return declare(input, { properties, required: ['type', 'method', 'bodyType', 'body'] }, output);
}

export interface PaidTool {
  toolName: string;
  description: string;
  inputSchema: JsonSchema;
  /** Example arguments. */
  example: Record<string, unknown>;
}

/** A tool of an MCP server over Streamable HTTP, which the listing identifies by server URL and name. */
export function declareMcpTool(tool: PaidTool, output: AnswerSample): BazaarDeclaration {
  const input = { type: 'mcp', transport: 'streamable-http', ...tool };
  const text = { type: 'string' };
  const object = { type: 'object' };
  const properties = {
    type: { type: 'string', const: 'mcp' },
    transport: { type: 'string', enum: ['streamable-http'] },
    ...{ toolName: text, description: text, inputSchema: object, example: object },
  };
  return declare(input, { properties, required: ['type', 'toolName', 'inputSchema'] }, output);
}

function declare(input: Record<string, unknown>, inputSchema: JsonSchema, output: AnswerSample): BazaarDeclaration {
  const outputSchema = { type: 'object', properties: { type: { type: 'string' }, example: output.schema }, required: ['type'] };
  return {
    info: { input, output: { type: 'json', example: output.example } },
    schema: {
      $schema: SCHEMA_DIALECT,
      type: 'object',
      properties: { input: { type: 'object', ...inputSchema, additionalProperties: false }, output: outputSchema },
      required: ['input'],
    },
  };
}
