import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as mcp from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { McpFixtures } from '../../../src/mcp/protocol.ts';

/** Names that the official MCP conformance suites call; created once per process, because rounds of one call may reach different servers. */
export function createMcpFixtures(): McpFixtures {
  const states = mcp.createRequestStateCodec<Round>({ key: randomBytes(32) });
  return {
    options: { requestState: { verify: states.verify } },
    register(server) {
      registerContent(server);
      registerNotifications(server);
      registerInputRequests(server, states);
    },
  };
}

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
/** No samples, mono, 8 kHz. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const text = (content: string) => ({ type: 'text', text: content }) as const;
const embedded = (uri: string, mimeType: string, content: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: content } }) as const;

const ANSWERS = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [IMAGE],
  test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' } as const],
  test_embedded_resource: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    IMAGE,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
};

function registerContent(server: mcp.McpServer): void {
  for (const [name, content] of Object.entries(ANSWERS)) {
    server.registerTool(name, { description: 'Answers with one kind of content' }, () => ({ content }));
  }
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  registerResources(server);
  registerPrompts(server);
}

function registerResources(server: mcp.McpServer): void {
  server.registerResource('static text', 'test://static-text', { description: 'A text', mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('static binary', 'test://static-binary', { description: 'One red pixel', mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new mcp.ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { description: 'Data by id', mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
  }));
}

function registerPrompts(server: mcp.McpServer): void {
  const saying = (...content: (ReturnType<typeof text> | typeof IMAGE | ReturnType<typeof embedded>)[]) => ({
    messages: content.map((one) => ({ role: 'user' as const, content: one })),
  });
  server.registerPrompt('test_simple_prompt', { description: 'One sentence' }, () => saying(text('This is a simple prompt for testing.')));
  const argument = () => mcp.completable(z.string().describe('Any word'), () => []);
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Repeats its arguments', argsSchema: z.object({ arg1: argument(), arg2: argument() }) },
    ({ arg1, arg2 }) => saying(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Embeds a resource', argsSchema: z.object({ resourceUri: z.string().describe('Its URI') }) },
    ({ resourceUri }) =>
      saying(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'Shows an image' }, () =>
    saying(IMAGE, text('Please analyze the image above.')),
  );
}

const NAME = z.object({ name: z.string() });
const CONFIRMATION = z.object({ ok: z.boolean() });
const COLOR = z.object({ color: z.string() });
const CONTEXT = z.object({ context: z.string() });

const textResult = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const askName = (message = 'What is your name?') => mcp.inputRequired.elicit({ message, requestedSchema: NAME });

/** Request state: number of completed rounds. */
type Round = { round: number };

function registerInputRequests(server: mcp.McpServer, states: mcp.RequestStateCodec<Round>): void {
  registerSingleRequests(server);
  registerRounds(server, states);
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for a context first' }, ({ mcpReq }) => {
    const answer = mcp.acceptedContent(mcpReq.inputResponses, 'user_context', CONTEXT);
    if (answer !== undefined) return { messages: [{ role: 'user', content: { type: 'text', text: `Context: ${answer.context}` } }] };
    const request = mcp.inputRequired.elicit({ message: 'What context should the prompt use?', requestedSchema: CONTEXT });
    return mcp.inputRequired({ inputRequests: { user_context: request } });
  });
}

function registerSingleRequests(server: mcp.McpServer): void {
  for (const name of ['test_input_required_result_elicitation', 'test_streaming_elicitation']) {
    server.registerTool(name, { description: 'Asks for a name first' }, ({ mcpReq }) => {
      const answer = mcp.acceptedContent(mcpReq.inputResponses, 'user_name', NAME);
      return answer === undefined ? mcp.inputRequired({ inputRequests: { user_name: askName() } }) : textResult(`Hello, ${answer.name}!`);
    });
  }
  for (const name of ['test_input_required_result_sampling', 'test_missing_capability']) {
    server.registerTool(name, { description: 'Asks the model of its client first' }, ({ mcpReq }) => {
      const answer = mcp.inputResponse(mcpReq.inputResponses, 'capital_question');
      if (answer.kind === 'sampling') return textResult(`The model says: ${JSON.stringify(answer.result.content)}`);
      return mcp.inputRequired({ inputRequests: { capital_question: buildSamplingRequest('What is the capital of France?') } });
    });
  }
  server.registerTool('test_input_required_result_list_roots', { description: 'Asks for the roots first' }, ({ mcpReq }) => {
    const answer = mcp.inputResponse(mcpReq.inputResponses, 'client_roots');
    if (answer.kind === 'roots') return textResult(`Roots: ${answer.roots.map(({ uri }) => uri).join(', ')}`);
    return mcp.inputRequired({ inputRequests: { client_roots: mcp.inputRequired.listRoots() } });
  });
  server.registerTool('test_input_required_result_capabilities', { description: 'Asks what its client can answer' }, ({ mcpReq }) => {
    const capabilities = getClientCapabilities(mcpReq);
    const inputRequests: Record<string, mcp.InputRequest> = {};
    if (capabilities.sampling !== undefined) inputRequests.greeting = buildSamplingRequest('Generate a greeting');
    if (capabilities.elicitation !== undefined) inputRequests.user_name = askName();
    return Object.keys(inputRequests).length === 0 ? textResult('The client offers no capability.') : mcp.inputRequired({ inputRequests });
  });
}

function registerRounds(server: mcp.McpServer, states: mcp.RequestStateCodec<Round>): void {
  const confirmation = mcp.inputRequired.elicit({ message: 'Please confirm', requestedSchema: CONFIRMATION });
  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state']) {
    server.registerTool(name, { description: 'Takes its state back' }, async ({ mcpReq }) => {
      const known = mcpReq.requestState<Round>() !== undefined && mcp.acceptedContent(mcpReq.inputResponses, 'confirm', CONFIRMATION);
      if (known) return textResult('state-ok');
      return mcp.inputRequired({ inputRequests: { confirm: confirmation }, requestState: await states.mint({ round: 1 }) });
    });
  }
  server.registerTool('test_input_required_result_multiple_inputs', { description: 'Asks three things at once' }, async ({ mcpReq }) => {
    if (hasAllResponses(mcpReq, ['user_name', 'greeting', 'client_roots'])) return textResult('Everything is there.');
    const inputRequests = {
      user_name: askName(),
      greeting: buildSamplingRequest('Generate a greeting'),
      client_roots: mcp.inputRequired.listRoots(),
    };
    return mcp.inputRequired({ inputRequests, requestState: await states.mint({ round: 1 }) });
  });
  server.registerTool('test_input_required_result_multi_round', { description: 'Asks twice' }, async ({ mcpReq }) => {
    const answered = mcpReq.requestState<Round>()?.round ?? 0;
    const color = mcp.acceptedContent(mcpReq.inputResponses, 'step2', COLOR);
    if (answered === 2 && color !== undefined) return textResult(`Your color is ${color.color}.`);
    if (answered === 1 && mcp.acceptedContent(mcpReq.inputResponses, 'step1', NAME) !== undefined) {
      const request = mcp.inputRequired.elicit({ message: 'Step 2: What is your favorite color?', requestedSchema: COLOR });
      return mcp.inputRequired({ inputRequests: { step2: request }, requestState: await states.mint({ round: 2 }) });
    }
    return mcp.inputRequired({
      inputRequests: { step1: askName('Step 1: What is your name?') },
      requestState: await states.mint({ round: 1 }),
    });
  });
}

function hasAllResponses({ inputResponses }: mcp.ServerContext['mcpReq'], keys: string[]): boolean {
  return keys.every((key) => mcp.inputResponse(inputResponses, key).kind !== 'missing');
}

/** Client capabilities of the request; empty for older revisions. */
function getClientCapabilities({ envelope }: mcp.ServerContext['mcpReq']): mcp.ClientCapabilities {
  return (envelope as Record<string, mcp.ClientCapabilities | undefined> | undefined)?.[mcp.CLIENT_CAPABILITIES_META_KEY] ?? {};
}

function buildSamplingRequest(text: string): mcp.InputRequest {
  const params: mcp.CreateMessageRequestParams = { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 };
  return mcp.inputRequired.createMessage(params);
}

/** Interval between notifications, which the suites observe while the tool runs. */
const NOTIFICATION_INTERVAL_MS = 50;

function registerNotifications(server: mcp.McpServer): void {
  server.server.registerCapabilities({ logging: {} });
  server.registerTool('test_tool_with_logging', { description: 'Logs three lines' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'Tool execution started');
    await delay(NOTIFICATION_INTERVAL_MS);
    await mcpReq.log('info', 'Tool processing data');
    await delay(NOTIFICATION_INTERVAL_MS);
    await mcpReq.log('info', 'Tool execution completed');
    return textResult('Logged three lines.');
  });
  server.registerTool('test_logging_tool', { description: 'Logs where the request asks for it' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'The tool was called');
    return textResult('Logged where the request asked for it.');
  });
  server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progress > 0) await delay(NOTIFICATION_INTERVAL_MS);
      if (progressToken === undefined) continue;
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
    }
    return textResult('Done.');
  });
  registerUnusualInputs(server);
}

function registerUnusualInputs(server: mcp.McpServer): void {
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: mcp.fromJsonSchema(RICH_SCHEMA) },
    () => textResult('Valid.'),
  );
  server.registerTool(
    'test_custom_headers',
    {
      description: 'Has a parameter that is repeated as a header',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    },
    () => textResult('Received.'),
  );
}

/** The scenario `json-schema-2020-12` compares it keyword by keyword. */
const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;
