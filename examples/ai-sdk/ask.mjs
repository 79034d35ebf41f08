// The four skills as tools of the AI SDK, over MCP. In this folder: npm ci && MODEL=anthropic/claude-sonnet-4.5 node ask.mjs "How good is it?"
// The direction of these forecasts has no demonstrated skill, and the service says so. The part with
// skill is the width of the range. Not investment advice. The instructions of the server say the like to the model.
// MODEL is one of the AI Gateway, which reads AI_GATEWAY_API_KEY; TOKEN, where there is one, shows unresolved forecasts.
import { createMCPClient } from '@ai-sdk/mcp';
import { generateText, isStepCount } from 'ai';

/** @returns the answer of the model. Throws where the service does not answer; a rejected tool call is an answer to the model. */
async function ask(prompt, { model, url, token }) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const client = await createMCPClient({ transport: { type: 'http', url, headers, redirect: 'error' } });
  try {
    const tools = await client.tools();
    const { text } = await generateText({ model, prompt, tools, instructions: client.instructions, stopWhen: isStepCount(5) });
    return text;
  } finally {
    await client.close();
  }
}

if (import.meta.main) {
  const { MODEL: model, TOKEN: token } = process.env;
  if (!model) throw new Error('Set MODEL to a model of the AI Gateway, such as anthropic/claude-sonnet-4.5');
  const service = process.env.SERVICE_URL || `http://127.0.0.1:${process.env.PORT || 3000}`;
  console.log(
    await ask(process.argv[2] ?? 'Where is bitcoin expected in a week, and how good is that?', { model, token, url: `${service}/mcp` }),
  );
}
