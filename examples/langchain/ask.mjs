// The four skills as tools of LangChain, over MCP. In this folder: npm ci && npm install @langchain/openai && MODEL=openai:gpt-5 node ask.mjs "How good is it?"
// The direction of these forecasts has no demonstrated skill, and the service says so. The part with
// skill is the width of the range. Not investment advice. The instructions of the server say the like to the model.
// MODEL is <provider>:<model>, whose package is installed beside; TOKEN, where there is one, shows unresolved forecasts.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { createAgent } from 'langchain';

const NAME = 'bitcoin-signal-oracle';

/** @returns the answer of the model. Throws where the service does not answer; a rejected tool call is an answer to the model. */
async function ask(question, { model, url, token }) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const client = new MultiServerMCPClient({ [NAME]: { transport: 'http', url, headers, automaticSSEFallback: false } });
  try {
    const tools = await client.getTools();
    const systemPrompt = (await client.getClient(NAME)).getInstructions();
    const { messages } = await createAgent({ model, tools, systemPrompt }).invoke({ messages: [{ role: 'user', content: question }] });
    return messages.at(-1).text;
  } finally {
    await client.close();
  }
}

if (import.meta.main) {
  const { MODEL: model, TOKEN: token } = process.env;
  if (!model) throw new Error('Set MODEL to a provider and its model, such as openai:gpt-5');
  const service = process.env.SERVICE_URL || `http://127.0.0.1:${process.env.PORT || 3000}`;
  console.log(
    await ask(process.argv[2] ?? 'Where is bitcoin expected in a week, and how good is that?', { model, token, url: `${service}/mcp` }),
  );
}
